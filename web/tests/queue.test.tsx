import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newChat, openChat, useChatUi } from "@/features/chat/chatUi";
import { ChatSession } from "@/features/chat/components/ChatSession";
import { gone, lookAgain, mustWait } from "@/features/chat/lib/queue";
import { mergeStored } from "@/features/chat/lib/stored";
import type { ChatMessage, Queue, QueuedItem, StoredStatus } from "@/features/chat/types";
import { FakeServer, json, refusal, stream } from "./fakeServer";
import { show } from "./render";
import { StoredChat } from "./storedChat";

const SEND = "POST /v1/ai/chat/tenant";
const QUEUE = "GET /v1/ai/chats/c1/queue";
const STREAM = "GET /v1/ai/chat/tenant/c1/stream";

const item = (id: string, error: QueuedItem["error"] = null): QueuedItem => ({
  id,
  text: `Message ${id}`,
  createdAt: "2026-11-01T00:00:00Z",
  error,
});
const queueOf = (held: boolean, ...ids: string[]): Queue => ({
  items: ids.map((id) => item(id)),
  held,
});

describe("a queue (ST-11)", () => {
  it("is looked at often while something is about to be sent, and else seldom or not at all", () => {
    const soon = lookAgain(queueOf(false, "a"), false, 100);
    const later = lookAgain(queueOf(false, "a"), false, 60_000);
    const held = lookAgain(queueOf(true, "a"), false, 100);
    expect(soon).toBeLessThan(later as number);
    expect(later).toBeLessThan(held as number);
    expect(lookAgain(queueOf(false), true, 0)).toBe(held);
    expect(lookAgain(queueOf(false), false, 0)).toBe(false);
  });

  it("lets a new message wait for an answer and for those before it, not behind what is held", () => {
    expect(mustWait(queueOf(false), false)).toBe(false);
    expect(mustWait(queueOf(false), true)).toBe(true);
    expect(mustWait(queueOf(false, "a"), false)).toBe(true);
    expect(mustWait(queueOf(true, "a"), false)).toBe(false);
  });

  it("knows what does not wait any more", () => {
    expect(gone(new Set(["a", "b"]), queueOf(false, "b", "c"))).toEqual(["a"]);
    expect(gone(new Set(), queueOf(false, "a"))).toEqual([]);
  });
});

describe("stored messages around an answer that comes in", () => {
  const message = (id: string, role: "user" | "assistant", ...texts: string[]): ChatMessage => ({
    id,
    role,
    parts: texts.map((text) => ({ type: "text", text })),
  });
  const first = [message("q1", "user", "First?"), message("a1", "assistant", "One.")];
  const asked = message("q2", "user", "Second?");
  const kept = (status: StoredStatus, ...texts: string[]): ChatMessage => ({
    ...message("a2", "assistant", ...texts),
    metadata: { status },
  });
  const live = message("a2", "assistant", "Ahead of", "what is stored");

  it("leave what has come in of it", () => {
    const merged = mergeStored([...first, live], [...first, asked, kept("streaming", "Ahead of")]);
    expect(merged.map(({ id }) => id)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(merged.at(-1)).toMatchObject({ parts: live.parts, metadata: { status: "streaming" } });
  });

  it("take the place of one that has ended, or of which less has come in", () => {
    const whole = kept("complete", "Whole.");
    expect(mergeStored([...first, asked, live], [...first, asked, whole]).at(-1)?.parts).toEqual(whole.parts);
    const more = kept("streaming", "Ahead of", "what is stored", "and more");
    expect(mergeStored([...first, asked, live], [...first, asked, more]).at(-1)?.parts).toEqual(more.parts);
  });
});

const start = (id: string) => ({ type: "start", messageId: id, messageMetadata: { chatId: "c1" } });
const says = (words: string) => [
  { type: "text-start", id: "x" },
  { type: "text-delta", id: "x", delta: words },
];
const end = [
  { type: "text-end", id: "x" },
  { type: "finish", finishReason: "stop", messageMetadata: {} },
];

let server: FakeServer;
let kept: StoredChat;
let queue: Queue;
let finish: () => void;

function Panel() {
  const { active } = useChatUi();
  return <ChatSession key={active.key} active={active} />;
}

/** An answer that goes on until `finish`. */
function answerInTwoHalves(): Response {
  const until = new Promise<void>((resolve) => {
    finish = () => {
      kept.answer("a1", "One half, two halves.");
      resolve();
    };
  });
  const body = new ReadableStream({
    async start(controller) {
      const write = (...chunks: object[]) =>
        controller.enqueue(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
      write(start("a1"), ...says("One half,"));
      await until;
      write({ type: "text-delta", id: "x", delta: " two halves." }, ...end);
      controller.close();
    },
  });
  return new Response(body.pipeThrough(new TextEncoderStream()));
}

const box = () => screen.getByRole("textbox", { name: "Message" }) as HTMLTextAreaElement;
const chips = () => within(screen.getByRole("region", { name: "Messages that wait" }));

function type(words: string): void {
  fireEvent.change(box(), { target: { value: words } });
  fireEvent.keyDown(box(), { key: "Enter" });
}

async function open() {
  openChat("c1");
  show(<Panel />);
  await screen.findByRole("log");
}

async function openWhileAnswering() {
  await open();
  server.on(SEND, answerInTwoHalves);
  type("First?");
  await screen.findByText("One half,");
}

/** The queue as a server keeps it, which takes messages in. */
function serveQueue(): void {
  server.on(QUEUE, () => json(queue));
  server.on(SEND, ({ body }) => {
    const { messages } = body as { messages: { id: string; parts: { text: string }[] }[] };
    const queued = { ...item(messages[0]?.id ?? ""), text: messages[0]?.parts[0]?.text ?? "" };
    queue = { ...queue, items: [...queue.items, queued] };
    return json({ queued }, 202);
  });
}

beforeEach(() => {
  newChat();
  server = new FakeServer();
  kept = new StoredChat("c1");
  kept.question("q1", "First?");
  kept.serve(server);
  queue = queueOf(false);
  server.on(QUEUE, () => json(queue));
  server.on("GET /v1/ai/chats", () => json({ items: [], nextCursor: null }));
  server.on("GET /v1/ai/chats/c1", () =>
    json({ id: "c1", title: "Leave", pageId: null, createdAt: "", updatedAt: "", model: null }),
  );
  server.on("GET /v1/ai/models", () => json({ items: [], showModelSelector: false }));
  server.on(STREAM, () => new Response(null, { status: 204 }));
});

afterEach(() => {
  finish?.();
  cleanup(); // looks at the queue no more
  server.close();
});

describe("messages typed during an answer (ST-11)", () => {
  it("wait above the input, and their answer comes in once the server has sent them", async () => {
    kept = new StoredChat("c1");
    kept.serve(server);
    await openWhileAnswering();
    serveQueue();
    type("Second?");
    expect(await screen.findByText("Second?")).toBeTruthy();
    expect(chips().getAllByRole("listitem")).toHaveLength(1);
    expect(box().value).toBe("");
    expect(server.asked(SEND).at(-1)?.body).toMatchObject({
      whenRunning: "queue",
      trigger: "submit-message",
      chatId: "c1",
    });

    kept.question("q1", "First?");
    server.on(STREAM, () => {
      kept.cut("a2").answer("a2", "The second.");
      return stream(start("a2"), ...says("The second."), ...end);
    });
    act(() => finish());
    await screen.findByText("One half, two halves.");
    kept.question("q2", "Second?").answer("a2", "", { status: "streaming" });
    queue = queueOf(false);
    await screen.findByText("The second.");
    await waitFor(() => expect(screen.queryByRole("region", { name: "Messages that wait" })).toBeNull());
    const said = screen.getAllByRole("article").map((article) => article.textContent);
    expect(said).toHaveLength(4);
    expect(said[2]).toContain("Second?");
  });

  it("leave one after the other, in the order in which they were typed", async () => {
    await openWhileAnswering();
    serveQueue();
    const take = server.handler(SEND);
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    server.on(SEND, async (seen) => {
      if (server.asked(SEND).length === 2) await held;
      return take(seen);
    });
    type("Second?");
    type("Third?");
    await waitFor(() => expect(server.asked(SEND)).toHaveLength(2));
    letThrough();
    await screen.findByText("Third?");
    expect(queue.items.map(({ text }) => text)).toEqual(["Second?", "Third?"]);
  });

  it("come back into the input when they cannot wait", async () => {
    await openWhileAnswering();
    server.on(SEND, () => refusal(409, "queue_full"));
    type("One too many");
    await waitFor(() => expect(server.asked(SEND)).toHaveLength(2));
    await waitFor(() => expect(box().value).toBe("One too many"));
    expect(screen.queryByRole("region", { name: "Messages that wait" })).toBeNull();
  });

  it("are followed at once when the answer has ended before them", async () => {
    await openWhileAnswering();
    server.on(SEND, () => stream(start("a2"), ...says("Not read here.")));
    server.on(STREAM, () => {
      kept.cut("a2").answer("a2", "The second.");
      return stream(start("a2"), ...says("The second."), ...end);
    });
    act(() => finish());
    kept.question("q2", "Second?").answer("a2", "", { status: "streaming" });
    type("Second?");
    await screen.findByText("The second.");
    expect(screen.queryByText("Not read here.")).toBeNull();
  });
});

describe("messages that wait", () => {
  it("say what they wait for, and do not keep back what is typed after a stop", async () => {
    kept.answer("a1", "Half of it", { status: "aborted", metadata: { stopReason: "asked" } });
    queue = queueOf(true, "m1");
    await open();
    expect((await screen.findByText(/these wait until you send them/)).textContent).toBeTruthy();
    server.on(SEND, () => stream(start("a2"), ...says("Instead."), ...end));
    type("Instead?");
    await screen.findByText("Instead.");
    expect(server.asked(SEND)[0]?.body).not.toHaveProperty("whenRunning");
  });

  it("are sent now or taken out, each by its own button", async () => {
    kept.answer("a1", "Half of it", { status: "aborted" });
    queue = queueOf(true, "m1", "m2");
    server.on("POST /v1/ai/chats/c1/queue/m2/now", () => {
      queue = queueOf(false, "m2", "m1");
      return json({ queued: item("m2") }, 202);
    });
    server.on("DELETE /v1/ai/chats/c1/queue/m1", () => {
      queue = { ...queue, items: queue.items.filter(({ id }) => id !== "m1") };
      return new Response(null, { status: 204 });
    });
    await open();
    const second = within((await screen.findByText("Message m2")).closest("li") as HTMLElement);
    fireEvent.click(second.getByRole("button", { name: "Send now" }));
    await waitFor(() =>
      expect(chips().getAllByRole("listitem").map((chip) => chip.textContent)).toEqual([
        expect.stringContaining("Message m2"),
        expect.stringContaining("Message m1"),
      ]),
    );
    const first = within(screen.getByText("Message m1").closest("li") as HTMLElement);
    fireEvent.click(first.getByRole("button", { name: "Remove this message" }));
    await waitFor(() => expect(chips().getAllByRole("listitem")).toHaveLength(1));
  });

  it("tell why one could not be sent", async () => {
    kept.answer("a1", "All of it.");
    const error = { code: "token_ceiling", message: "This chat has used the tokens." };
    queue = { items: [item("m1", error), item("m2")], held: true };
    await open();
    await screen.findByText("This chat has used all of its tokens");
    expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
    expect(screen.getByText(/^Not sent/)).toBeTruthy();
  });
});

describe("an answer that did not come to its end", () => {
  it.each([
    ["interrupted", "You interrupted this answer with your next message."],
    ["unattended", "This answer was stopped because nobody followed it."],
    ["asked", "You stopped this answer."],
    [undefined, "You stopped this answer."],
  ] as const)("says why: %s", async (stopReason, words) => {
    const metadata = stopReason === undefined ? {} : { stopReason };
    kept.answer("a1", "Half of it", { status: "aborted", metadata });
    await open();
    await screen.findByText(words);
  });
});
