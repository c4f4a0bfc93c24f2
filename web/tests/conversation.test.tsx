import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chatUi, newChat, openChat, useChatUi } from "@/features/chat/chatUi";
import { useConversation } from "@/features/chat/hooks/useConversation";
import { messageText } from "@/features/chat/lib/foldParts";
import type { ChatMessage } from "@/features/chat/types";
import { FakeServer, json, refusal, stream } from "./fakeServer";
import { Surroundings } from "./render";

const SEND = "POST /v1/ai/chat/tenant";
const start = { type: "start", messageId: "m1", messageMetadata: { chatId: "c1" } };
const text = (delta: string) => [
  { type: "start-step" },
  { type: "text-start", id: "x" },
  { type: "text-delta", id: "x", delta },
];
const end = [
  { type: "text-end", id: "x" },
  { type: "finish-step" },
  { type: "finish", finishReason: "stop", messageMetadata: { inputTokens: 1, outputTokens: 2 } },
];

function open(initial: ChatMessage[] | null = null) {
  const hook = renderHook(() => useConversation(useChatUi().active, initial), {
    wrapper: Surroundings,
  });
  const texts = () => hook.result.current.messages.map(messageText);
  const send = (question: string) => act(() => hook.result.current.actions.send(question));
  return { hook, texts, send, chat: () => hook.result.current };
}

const WAIT = { timeout: 5000 };
let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  newChat();
});

afterEach(() => server.close());

describe("a conversation", () => {
  it("streams an answer, takes over the server's id of the chat, and sends it from then on", async () => {
    server.on(SEND, () => stream(start, ...text("Hello."), ...end));
    const { texts, send, chat } = open();
    send("Hi");
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello."]), WAIT);
    await waitFor(() => expect(chatUi().active.chatId).toBe("c1"), WAIT);
    send("And?");
    await waitFor(() => expect(server.asked(SEND)).toHaveLength(2), WAIT);
    const [first, second] = server.asked(SEND).map((seen) => seen.body as Record<string, unknown>);
    expect(first).not.toHaveProperty("chatId");
    expect(second).toMatchObject({ chatId: "c1", id: first?.["id"] });
    expect(second?.["messages"]).toHaveLength(1);
    await waitFor(() => expect(chat().busy).toBe(false), WAIT);
  });

  it("resumes a stream that broke off and shows the answer once", async () => {
    server.on(SEND, () => stream(start, ...text("Half")));
    server.on("GET /v1/ai/chat/tenant/c1/stream", () => stream(start, ...text("Half and whole."), ...end));
    const { texts, send, chat } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("reconnecting"), WAIT);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half and whole."]), WAIT);
    await waitFor(() => expect(chat().connection).toBe("live"), WAIT);
    expect(chat().failure).toBeNull();
  });

  it("reads the stored answer when the turn ended while the line was down", async () => {
    const stored = (id: string, role: string, words: string) => ({
      id,
      role,
      parts: [{ type: "text", text: words }],
      metadata: {},
      status: "complete",
      createdAt: "2026-11-01T00:00:00Z",
    });
    server.on(SEND, () => stream(start, ...text("Half")));
    server.on("GET /v1/ai/chat/tenant/c1/stream", () => new Response(null, { status: 204 }));
    server.on("GET /v1/ai/chats/c1/messages", () =>
      json({ items: [stored("u1", "user", "Hi"), stored("m1", "assistant", "Whole.")], nextCursor: null }),
    );
    const { texts, send, chat } = open();
    send("Hi");
    await waitFor(() => expect(texts()).toEqual(["Hi", "Whole."]), WAIT);
    await waitFor(() => expect(chat().connection).toBe("live"), WAIT);
  });

  it("keeps a message that the server never had, and sends it again under the same id", async () => {
    server.on(SEND, () => Promise.reject(new TypeError("Failed to fetch")));
    const { texts, send, chat } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("unsent"), WAIT);
    expect(texts()).toEqual(["Hi"]);
    server.on(SEND, () => stream(start, ...text("Hello."), ...end));
    act(() => chat().retry());
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello."]), WAIT);
    const ids = server.asked(SEND).map((seen) => {
      const { messages } = seen.body as { messages: { id: string }[] };
      return messages[0]?.id;
    });
    expect(ids[1]).toBe(ids[0]);
  });

  it("names a refused request by its kind and asks for a new turn after a failed one (UI-14)", async () => {
    server.on(SEND, () => refusal(429, "rate_limited"));
    const { send, chat, texts } = open();
    send("Hi");
    await waitFor(() => expect(chat().failure?.kind).toBe("rateLimit"), WAIT);
    server.on(SEND, () => stream(start, ...text("I was"), { type: "error", errorText: "Broken." }));
    act(() => chat().retry());
    await waitFor(() => expect(chat().failure?.text).toBe("Broken."), WAIT);
    server.on(SEND, () => stream({ ...start, messageId: "m2" }, ...text("Fine."), ...end));
    act(() => chat().retry());
    await waitFor(() => expect(texts()).toEqual(["Hi", "Fine."]), WAIT);
    expect(server.asked(SEND).at(-1)?.body).toMatchObject({ trigger: "regenerate-message" });
  });

  it("stops the turn on the server and says so when the stream has ended", async () => {
    let stopped = () => {};
    const until = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    server.on(SEND, () => {
      const body = new ReadableStream({
        async start(controller) {
          const write = (...chunks: object[]) =>
            controller.enqueue(chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`).join(""));
          write(start, ...text("Half"));
          await until;
          write({ type: "abort", reason: "stopped" }, { type: "finish", finishReason: "interrupted" });
          controller.close();
        },
      });
      return new Response(body.pipeThrough(new TextEncoderStream()));
    });
    server.on("POST /v1/ai/chat/tenant/c1/stop", () => {
      stopped();
      return json({ stopped: true });
    });
    const { texts, send, chat } = open();
    send("Hi");
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half"]), WAIT);
    act(() => chat().stop());
    await waitFor(() => expect(chat().busy).toBe(false), WAIT);
    await waitFor(() => expect(chat().messages.at(-1)?.metadata?.status).toBe("aborted"), WAIT);
    expect(texts()).toEqual(["Hi", "Half"]);
    expect(chat().connection).toBe("live");
  });

  it("resumes a running answer when it is opened again", async () => {
    server.on("GET /v1/ai/chat/tenant/c9/stream", () => stream(start, ...text("Still here."), ...end));
    openChat("c9");
    const { texts } = open([{ id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] }]);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Still here."]), WAIT);
  });
});
