import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newChat, openChat, useChatUi } from "@/features/chat/chatUi";
import { useConversation } from "@/features/chat/hooks/useConversation";
import { messageText } from "@/features/chat/lib/foldParts";
import { fromStored } from "@/features/chat/lib/stored";
import { FakeServer, json, refusal, stream } from "./fakeServer";
import { Surroundings } from "./render";
import { StoredChat } from "./storedChat";

const SEND = "POST /v1/ai/chat/tenant";
const WAIT = { timeout: 5000 };
const start = (messageId: string) => ({ type: "start", messageId, messageMetadata: { chatId: "c1" } });
const says = (words: string) => [
  { type: "start-step" },
  { type: "text-start", id: "x" },
  { type: "text-delta", id: "x", delta: words },
  { type: "text-end", id: "x" },
  { type: "finish-step" },
];
const finish = { type: "finish", finishReason: "stop", messageMetadata: {} };

let server: FakeServer;
let kept: StoredChat;

beforeEach(() => {
  server = new FakeServer();
  kept = new StoredChat("c1").question("u1", "Hi").answer("m1", "Hello.").question("u2", "And?").answer("m2", "So.");
  kept.serve(server);
  server.on("GET /v1/ai/chat/tenant/c1/stream", () => new Response(null, { status: 204 }));
  newChat();
  openChat("c1");
});

afterEach(() => server.close());

function open() {
  const hook = renderHook(() => useConversation(useChatUi().active, fromStored(kept.messages)), {
    wrapper: Surroundings,
  });
  const chat = () => hook.result.current;
  const question = () => {
    const [first] = chat().messages;
    if (first === undefined) throw new Error("the chat is empty");
    return first;
  };
  return {
    chat,
    question,
    texts: () => chat().messages.map(messageText),
    ids: () => chat().messages.map(({ id }) => id),
    body: () => server.asked(SEND).at(-1)?.body as Record<string, unknown>,
  };
}

describe("versions of a conversation", () => {
  it("begin where an earlier message is put in other words", async () => {
    server.on(SEND, () => {
      kept.cut("u1").question("u3", "Hey", ["u1", "u3"]).answer("m3", "Hey you.");
      return stream(start("m3"), ...says("Hey you."), finish);
    });
    const { chat, question, texts, ids, body } = open();
    act(() => chat().actions.edit(question(), "Hey"));
    await waitFor(() => expect(texts()).toEqual(["Hey", "Hey you."]), WAIT);
    expect(body()).toMatchObject({
      trigger: "submit-message",
      messages: [{ id: "u1", parts: [{ type: "text", text: "Hey" }] }],
    });
    // The list is read again: only there is the new message's id, and that it has a sibling.
    await waitFor(() => expect(ids()).toEqual(["u3", "m3"]), WAIT);
    expect(chat().messages[0]?.metadata?.branch).toEqual({ index: 1, ids: ["u1", "u3"] });
  });

  it("begin where any answer is asked for again", async () => {
    server.on(SEND, () => {
      kept.cut("m1").answer("m4", "Hello again.", { branch: { index: 1, ids: ["m1", "m4"] } });
      return stream(start("m4"), ...says("Hello again."), finish);
    });
    const { chat, texts, body } = open();
    act(() => chat().actions.regenerate("m1"));
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello again."]), WAIT);
    expect(body()).toMatchObject({ trigger: "regenerate-message", messageId: "m1" });
    await waitFor(() => expect(chat().messages[1]?.metadata?.branch?.ids).toEqual(["m1", "m4"]), WAIT);
  });

  it("are switched on the server, and what they did to pages is told", async () => {
    const change = { pageId: "p7", title: "Leave", url: "/s/h/p/leave-7", action: "edited" as const, version: 3 };
    server.on("POST /v1/ai/chats/c1/branch", () => {
      const branch = { index: 0, ids: ["m0", "m1"] };
      kept.cut("m1").answer("m0", "Good day.", { branch, hiddenChanges: [change] });
      return new Response(null, { status: 204 });
    });
    const { chat, texts } = open();
    await act(() => chat().actions.showVersion("m0"));
    await waitFor(() => expect(texts()).toEqual(["Hi", "Good day."]), WAIT);
    expect(server.asked("POST /v1/ai/chats/c1/branch")[0]?.body).toEqual({ messageId: "m0" });
    expect(chat().messages[1]?.metadata?.hiddenChanges).toEqual([change]);
  });

  it("leave everything as it was when the server refuses, and can be asked for again", async () => {
    server.on(SEND, () => refusal(429, "rate_limited"));
    const { chat, question, texts } = open();
    act(() => chat().actions.edit(question(), "Hey"));
    await waitFor(() => expect(chat().failure?.kind).toBe("rateLimit"), WAIT);
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello.", "And?", "So."]), WAIT);
    server.on(SEND, () => {
      kept.cut("u1").question("u3", "Hey", ["u1", "u3"]).answer("m3", "Hey you.");
      return stream(start("m3"), ...says("Hey you."), finish);
    });
    act(() => chat().retry());
    await waitFor(() => expect(texts()).toEqual(["Hey", "Hey you."]), WAIT);
  });

  it("show the chat as it is when somebody was faster", async () => {
    server.on(SEND, () => {
      kept.answer("m9", "More.");
      return refusal(409, "nothing_to_continue");
    });
    const { chat, texts } = open();
    act(() => chat().actions.goOn());
    await waitFor(() => expect(chat().failure?.kind).toBe("changed"), WAIT);
    await waitFor(() => expect(texts().at(-1)).toBe("More."), WAIT);
  });
});

describe("an answer that reached its limit", () => {
  it("goes on in a message of its own, without a new question", async () => {
    server.on(SEND, () => {
      kept.answer("m3", "and more.");
      return stream(start("m3"), ...says("and more."), finish);
    });
    const { chat, texts, ids, body } = open();
    act(() => chat().actions.goOn());
    await waitFor(() => expect(texts()).toEqual(["Hi", "Hello.", "And?", "So.", "and more."]), WAIT);
    expect(body()).toMatchObject({ continue: true, chatId: "c1", messages: [] });
    expect(body()).not.toHaveProperty("messageId");
    await waitFor(() => expect(ids().at(-1)).toBe("m3"), WAIT);
  });
});

describe("an answer that failed", () => {
  const failing = () => {
    kept.question("u3", "Why?").answer("m3", "I was", {
      status: "error",
      metadata: { errorCode: "provider_auth", error: "The provider answered 401." },
    });
    return stream(
      start("m3"),
      ...says("I was"),
      { type: "message-metadata", messageMetadata: { errorCode: "provider_auth" } },
      { type: "error", errorText: "The provider answered 401." },
    );
  };

  it("is named by its code, the same while it runs and when it is read again", async () => {
    server.on(SEND, failing);
    const { chat } = open();
    act(() => chat().actions.send("Why?"));
    const kind = { kind: "providerAuth", text: "The provider answered 401." };
    await waitFor(() => expect(chat().failure).toMatchObject(kind), WAIT);
    await waitFor(() => expect(chat().messages.at(-1)?.metadata?.status).toBe("error"), WAIT);
    expect(chat().failure).toMatchObject(kind);
    const again = open();
    await waitFor(() => expect(again.chat().failure).toMatchObject(kind), WAIT);
  });

  it("is asked for again beside itself", async () => {
    kept.question("u3", "Why?").answer("m3", "I was", { status: "error", metadata: { errorCode: "internal" } });
    server.on(SEND, () => {
      kept.cut("m3").answer("m4", "Because.");
      return stream(start("m4"), ...says("Because."), finish);
    });
    const { chat, body, texts } = open();
    await waitFor(() => expect(chat().failure?.kind).toBe("internal"), WAIT);
    act(() => chat().retry());
    await waitFor(() => expect(texts().at(-1)).toBe("Because."), WAIT);
    expect(body()).toMatchObject({ trigger: "regenerate-message", messageId: "m3" });
  });

  it("says how many seconds to wait when there were too many", async () => {
    server.on(SEND, () => json({ error: "rate_limited", message: "m" }, 429, { "retry-after": "8" }));
    const { chat } = open();
    act(() => chat().actions.send("Again"));
    await waitFor(() => expect(chat().failure).toMatchObject({ kind: "rateLimit", wait: 8 }), WAIT);
  });
});
