// Chats, turns and their streams: a turn runs by itself, readers come and go.
import { randomUUID } from "node:crypto";
import { partsOf, script } from "./turns.mjs";

const DELAY_MS = Number(process.env.STAND_IN_DELAY_MS ?? 40);
export const chats = new Map();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function findChat(id) {
  return chats.get(id) ?? [...chats.values()].find((chat) => chat.alias === id);
}

function openChat(body) {
  const found = findChat(body.chatId ?? body.id);
  if (found) return found;
  const now = new Date().toISOString();
  const title = body.messages[0].parts[0].text.slice(0, 60);
  const chat = { id: randomUUID(), alias: body.id, title, createdAt: now, updatedAt: now, pageId: body.pageId ?? null, messages: [], turn: null };
  chats.set(chat.id, chat);
  return chat;
}

function addMessage(chat, role, parts, status) {
  const message = { id: randomUUID(), role, parts, metadata: {}, status, createdAt: new Date(Date.now() + chat.messages.length).toISOString() };
  chat.messages.push(message);
  return message;
}

export function send(body) {
  const chat = openChat(body);
  const user = body.messages.at(-1);
  if (body.trigger === "regenerate-message") chat.messages.pop();
  else addMessage(chat, "user", user.parts, "complete");
  const message = addMessage(chat, "assistant", [], "streaming");
  const turn = { chunks: [], readers: new Set(), done: false, stopped: false, broken: false };
  chat.turn = turn;
  void run(chat, turn, message, user.parts[0].text);
  return turn;
}

async function run(chat, turn, message, question) {
  const emit = (chunk) => {
    turn.chunks.push(chunk);
    message.parts = partsOf(turn.chunks);
    for (const reader of turn.readers) reader(chunk);
  };
  emit({ type: "start", messageId: message.id, messageMetadata: { chatId: chat.id, turnId: "t1", model: "offline" } });
  await pause(500);
  for (const step of script(question)) {
    if (turn.stopped) break;
    if (step.breakOff) for (const reader of turn.readers) reader(null);
    else if (step.wait) await pause(step.wait);
    else {
      emit(step);
      await pause(step.fast ? 2 : DELAY_MS);
    }
  }
  const failed = turn.chunks.at(-1).type === "error";
  const metadata = { inputTokens: 812, outputTokens: 96, timeMs: 2310, truncated: false, model: "offline" };
  message.status = failed ? "error" : turn.stopped ? "aborted" : "complete";
  message.metadata = metadata;
  if (turn.stopped) emit({ type: "abort", reason: "stopped" });
  if (!failed) emit({ type: "finish", finishReason: turn.stopped ? "interrupted" : "stop", messageMetadata: metadata });
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
