// Chats and their turns: a turn runs by itself, readers come and go.
import { randomUUID } from "node:crypto";
import { refuse } from "./refusals.mjs";
import { offered } from "./settings.mjs";
import { addMessage, findMessage, leafOf, siblings } from "./tree.mjs";
import { partsOf, script } from "./turns.mjs";

const DELAY_MS = Number(process.env.STAND_IN_DELAY_MS ?? 40);
const PRICE_CENTS = 0.0004;
export const chats = new Map();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const textOf = (message) => message.parts.map((part) => part.text ?? "").join("");

export function findChat(id) {
  return chats.get(id) ?? [...chats.values()].find((chat) => chat.alias === id);
}

export const chatOf = (id) => findChat(id) ?? refuse(404, "chat_not_found", "There is no such chat.");

export const summary = ({ id, title, createdAt, updatedAt, pageId, model, tokensUsed, tokenCeiling }) => ({
  id, context: "tenant", title, createdAt, updatedAt, pageId, roleBadge: null, model, tokensUsed, tokenCeiling,
});

function openChat(body) {
  const found = findChat(body.chatId ?? body.id);
  if (found) return found;
  const now = new Date().toISOString();
  const chat = {
    id: randomUUID(), alias: body.id, title: textOf(body.messages[0]).slice(0, 60), createdAt: now, updatedAt: now,
    pageId: body.pageId ?? null, model: null, tokensUsed: 0, tokenCeiling: 50_000, messages: [], leaf: null, turn: null,
  };
  chats.set(chat.id, chat);
  return chat;
}

/** Where the new answer hangs, and the question that it answers. */
function place(chat, body) {
  const leaf = leafOf(chat);
  if (body.continue) {
    if (!leaf?.metadata.truncated) refuse(409, "nothing_to_continue", "The last answer is complete.");
    return { parent: leaf, question: "short, goes on" };
  }
  const sent = body.messages.at(-1);
  if (body.trigger === "regenerate-message") {
    const old = findMessage(chat, body.messageId) ?? leaf;
    const parent = old.role === "user" ? old : findMessage(chat, old.parentId);
    return { parent, question: `${textOf(parent)} (again ${siblings(chat, old).length})` };
  }
  const known = findMessage(chat, sent.id);
  const parentId = known ? known.parentId : (leaf?.id ?? null);
  const user = addMessage(chat, { role: "user", parts: sent.parts, parentId, clientId: sent.id, status: "complete" });
  return { parent: user, question: textOf(user) };
}

export function send(body) {
  const running = findChat(body.chatId ?? body.id)?.turn;
  if (running && !running.done) {
    const repeated = running.sent === body.messages?.at(-1)?.id && body.trigger !== "regenerate-message";
    if (repeated) return running;
    refuse(409, "turn_running", "An answer is still being written in this chat: wait for it or stop it.");
  }
  const chat = openChat(body);
  if (body.model) {
    if (!offered().some((item) => item.model === body.model)) refuse(400, "unknown_model", "This model is not offered in this workspace.");
    chat.model = body.model;
  }
  const { parent, question } = place(chat, body);
  const message = addMessage(chat, { role: "assistant", parts: [], parentId: parent.id, status: "streaming" });
  const turn = { id: randomUUID(), sent: body.messages?.at(-1)?.id, chunks: [], readers: new Set(), done: false, stopped: false };
  chat.turn = turn;
  chat.updatedAt = new Date().toISOString();
  void run(chat, turn, message, question);
  return turn;
}

async function run(chat, turn, message, question) {
  const emit = (chunk) => {
    turn.chunks.push(chunk);
    Object.assign(message.metadata, chunk.messageMetadata);
    message.parts = partsOf(turn.chunks);
    for (const reader of turn.readers) reader(chunk);
  };
  const model = chat.model ?? offered().find((item) => item.isDefault).model;
  emit({ type: "start", messageId: message.id, messageMetadata: { chatId: chat.id, turnId: turn.id, model } });
  await pause(500);
  let steps = 0;
  for (const step of script(question)) {
    if (turn.stopped) break;
    if (step.breakOff) for (const reader of turn.readers) reader(null);
    else if (step.wait) await pause(step.wait);
    else {
      const { fast, ...chunk } = step;
      if (chunk.type === "error") message.status = "error";
      emit(chunk);
      if (chunk.type === "finish-step") emit({ type: "message-metadata", messageMetadata: usage((steps += 1)) });
      await pause(fast ? 2 : DELAY_MS);
    }
  }
  finish(chat, turn, message, emit);
}

function usage(steps) {
  const inputTokens = 812 * Math.max(steps, 1);
  const outputTokens = 96 * Math.max(steps, 1);
  return {
    inputTokens, outputTokens, steps, contextTokens: 812 + 96 * steps, contextWindow: 128_000,
    costInCents: (inputTokens + outputTokens) * PRICE_CENTS,
  };
}

function finish(chat, turn, message, emit) {
  const last = turn.chunks.at(-1);
  const failed = last.type === "error";
  message.status = failed ? "error" : turn.stopped ? "aborted" : "complete";
  const metadata = { ...usage(message.metadata.steps ?? 1), timeMs: 2310, truncated: message.metadata.truncated ?? false };
  chat.tokensUsed += metadata.inputTokens + metadata.outputTokens;
  if (failed) Object.assign(message.metadata, metadata, { error: last.errorText });
  if (turn.stopped) emit({ type: "abort", reason: "stopped" });
  const reason = turn.stopped ? "interrupted" : metadata.truncated ? "length" : "stop";
  if (!failed) emit({ type: "finish", finishReason: reason, messageMetadata: metadata });
  turn.done = true;
  for (const reader of turn.readers) reader("done");
}

/** Replays a turn from its start, then follows it. */
export function stream(turn, response) {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-vercel-ai-ui-message-stream": "v1",
  });
  let seq = 0;
  const reader = (chunk) => {
    if (chunk === null) {
      turn.readers.delete(reader);
      response.end();
    } else if (chunk === "done") response.end("data: [DONE]\n\n");
    else response.write(`id: ${(seq += 1)}\ndata: ${JSON.stringify(chunk)}\n\n`);
  };
  for (const chunk of turn.chunks) reader(chunk);
  if (turn.done) return reader("done");
  turn.readers.add(reader);
  response.on("close", () => turn.readers.delete(reader));
}
