import { act, renderHook, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newChat, openChat, useChatUi } from "@/features/chat/chatUi";
import { ChatSession } from "@/features/chat/components/ChatSession";
import { useConversation } from "@/features/chat/hooks/useConversation";
import { messageText } from "@/features/chat/lib/foldParts";
import { unlessSilent } from "@/features/chat/lib/silence";
import { patiently } from "@/shared/lib/patiently";
import { FakeServer, json, refusal, stream } from "./fakeServer";
import { Surroundings, show } from "./render";
import { StoredChat } from "./storedChat";

const SEND = "POST /v1/ai/chat/tenant";
const STREAM = "GET /v1/ai/chat/tenant/c1/stream";
const WAIT = { timeout: 6000 };
vi.setConfig({ testTimeout: 20_000 });

const begin = [
  { type: "start", messageId: "a1", messageMetadata: { chatId: "c1" } },
  { type: "start-step" },
  { type: "text-start", id: "x" },
];
const says = (delta: string) => ({ type: "text-delta", id: "x", delta });
const end = [
  { type: "text-end", id: "x" },
  { type: "finish-step" },
  { type: "finish", finishReason: "stop", messageMetadata: {} },
];
const nothingRuns = () => new Response(null, { status: 204 });

let server: FakeServer;
let kept: StoredChat;

beforeEach(() => {
  server = new FakeServer();
  kept = new StoredChat("c1");
  kept.serve(server);
  newChat();
});

afterEach(() => {
  vi.useRealTimers();
  server.close();
});

/** The rest comes in, and is stored with its question by then. */
function wholeAnswer(): Response {
  kept.question("u1", "Hi").answer("a1", "Half and whole.");
  return stream(...begin, says("Half and whole."), ...end);
}

function open() {
  const hook = renderHook(() => useConversation(useChatUi().active, []), { wrapper: Surroundings });
  return {
    chat: () => hook.result.current,
    texts: () => hook.result.current.messages.map(messageText),
    send: (question: string) => act(() => hook.result.current.actions.send(question)),
  };
}

describe("an answer that is interrupted", () => {
  it("goes on as soon as the browser is online again, without the rest of the pause", async () => {
    server.on(SEND, () => stream(...begin, says("Half")));
    server.on(STREAM, () => Promise.reject(new TypeError("Failed to fetch")));
    openChat("c1");
    const { chat, texts, send } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("reconnecting"), WAIT);
    const asked = server.asked(STREAM).length;
    server.on(STREAM, wholeAnswer);
    await act(async () => void window.dispatchEvent(new Event("online")));
    expect(server.asked(STREAM)).toHaveLength(asked + 1);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half and whole."]), WAIT);
  });

  it("is said to be lost after a minute, is still looked for, and at once when asked to", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    server.on(SEND, () => stream(...begin, says("Half")));
    server.on(STREAM, () => Promise.reject(new TypeError("Failed to fetch")));
    openChat("c1");
    const { chat, texts, send } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("reconnecting"), WAIT);
    await act(() => vi.advanceTimersByTimeAsync(90_000));
    expect(chat().connection).toBe("lost");
    const asked = server.asked(STREAM).length;
    await act(() => vi.advanceTimersByTimeAsync(60_000));
    expect(server.asked(STREAM).length).toBeGreaterThan(asked);
    server.on(STREAM, wholeAnswer);
    const before = server.asked(STREAM).length;
    await act(async () => chat().reconnect());
    expect(server.asked(STREAM)).toHaveLength(before + 1);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half and whole."]), WAIT);
    await waitFor(() => expect(chat().connection).toBe("live"), WAIT);
  });

  it("is known to be by the server's silence, where the line does not end by itself", async () => {
    const silent = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    });
    const watched = unlessSilent(() => Promise.resolve(new Response(silent)), 50);
    const response = await watched("/v1");
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await expect(reader?.read()).rejects.toThrow(new TypeError("network silence"));
  });

  it("is not looked for in an answer without content, though a browser gives that a body", async () => {
    const empty = new Response(null, { status: 204 });
    Object.defineProperty(empty, "body", { value: new ReadableStream() });
    expect(await unlessSilent(() => Promise.resolve(empty))("/v1")).toBe(empty);
  });

  it("says so calmly while nothing new of it comes", async () => {
    kept.question("u1", "Hi");
    server.on(STREAM, () => {
      const body = [...begin, says("Half")].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
      const unfinished = new ReadableStream({
        start: (controller) => controller.enqueue(body.join("")),
      });
      return new Response(unfinished.pipeThrough(new TextEncoderStream()));
    });
    openChat("c1");
    show(<Panel />);
    await screen.findByText("Half");
    expect(screen.queryByText(/Waiting for the answer/)).toBeNull();
    await screen.findByText("Waiting for the answer to go on…", {}, WAIT);
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("a part of the app that is loaded when it is needed", () => {
  it("is asked for again while the server is away, and after some time given up", async () => {
    let away = 2;
    const load = () => (away-- > 0 ? Promise.reject(new TypeError("away")) : Promise.resolve("it"));
    expect(await patiently(load, [1, 1])).toBe("it");
    away = 3;
    await expect(patiently(load, [1, 1])).rejects.toThrow("away");
  });
});

describe("a message that is lost on its way", () => {
  it("is sent again by itself, under the same id, when the server is there again", async () => {
    server.on(SEND, () => Promise.reject(new TypeError("Failed to fetch")));
    openChat("c1");
    const { chat, texts, send } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("reconnecting"), WAIT);
    server.on(SEND, wholeAnswer);
    server.on(STREAM, nothingRuns);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half and whole."]), WAIT);
    await waitFor(() => expect(chat().busy).toBe(false), WAIT);
    expect(chat().failure).toBeNull();
    const ids = server.asked(SEND).map(({ body }) => (body as { messages: { id: string }[] }).messages[0]?.id);
    expect(ids).toHaveLength(2);
    expect(ids[1]).toBe(ids[0]);
  });

  it("is left to its person when it is lost again", async () => {
    server.on(SEND, () => Promise.reject(new TypeError("Failed to fetch")));
    server.on(STREAM, nothingRuns);
    openChat("c1");
    const { chat, texts, send } = open();
    send("Hi");
    await waitFor(() => expect(chat().connection).toBe("unsent"), WAIT);
    expect(server.asked(SEND)).toHaveLength(2);
    expect(texts()).toEqual(["Hi"]);
    server.on(SEND, wholeAnswer);
    act(() => chat().retry());
    await waitFor(() => expect(texts()).toEqual(["Hi", "Half and whole."]), WAIT);
  });
});

describe("a chat at rest that is open in two windows", () => {
  let updatedAt: string;
  beforeEach(() => {
    updatedAt = "2026-11-01T00:00:00Z";
    server.on("GET /v1/ai/chats/c1", () => json({ id: "c1", title: "A chat", updatedAt }));
    server.on(STREAM, nothingRuns);
  });
  const lookedAt = () => act(() => void window.dispatchEvent(new Event("visibilitychange")));

  it("shows in the one what is asked in the other", async () => {
    kept.question("u1", "Hi").answer("a0", "Hello.");
    openChat("c1");
    show(<Panel />);
    await screen.findByText("Hello.");
    await waitFor(() => expect(server.asked("GET /v1/ai/chats/c1")).not.toEqual([]), WAIT);
    updatedAt = "2026-11-01T00:01:00Z";
    kept.question("u2", "And?").answer("a1", "", { status: "streaming" });
    server.on(STREAM, () => {
      kept.cut("a1").answer("a1", "More.");
      return stream(...begin, says("More."), ...end);
    });
    await waitFor(() => {
      lookedAt();
      expect(screen.queryByText("And?")).not.toBeNull();
    }, WAIT);
    await screen.findByText("More.", {}, WAIT);
  });

  it("is not asked again for what was answered here", async () => {
    kept.question("u1", "Hi").answer("a1", "Hello.");
    server.on(SEND, () => {
      updatedAt = "2026-11-01T00:01:00Z";
      return stream(...begin, says("Hello."), ...end);
    });
    openChat("c1");
    const { chat, texts, send } = open();
    await waitFor(() => expect(server.asked("GET /v1/ai/chats/c1")).not.toEqual([]), WAIT);
    send("Hi");
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello."]), WAIT);
    await waitFor(() => expect(chat().busy).toBe(false), WAIT);
    const asked = server.asked("GET /v1/ai/chats/c1").length;
    lookedAt();
    await waitFor(() => expect(server.asked("GET /v1/ai/chats/c1").length).toBeGreaterThan(asked));
    expect(server.asked(STREAM)).toHaveLength(1);
  });

  it("keeps a message that was refused here", async () => {
    kept.question("u1", "Hi").answer("a1", "Hello.");
    server.on(SEND, () => refusal(503, "unavailable"));
    openChat("c1");
    const { chat, texts, send } = open();
    send("Not taken");
    await waitFor(() => expect(chat().failure?.kind).toBe("unavailable"), WAIT);
    updatedAt = "2026-11-01T00:01:00Z";
    const asked = server.asked("GET /v1/ai/chats/c1").length;
    lookedAt();
    await waitFor(() => expect(server.asked("GET /v1/ai/chats/c1").length).toBeGreaterThan(asked));
    expect(texts()).toEqual(["Not taken"]);
  });
});

function Panel() {
  const { active } = useChatUi();
  return <ChatSession key={active.key} active={active} />;
}
