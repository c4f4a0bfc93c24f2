import { describe, expect, it } from "vitest";
import { nextAnnouncement } from "@/features/chat/lib/announce";
import { RECONNECT_ATTEMPTS, backoff } from "@/features/chat/lib/backoff";
import { canRetry, readChatError } from "@/features/chat/lib/chatErrors";
import { foldParts, messageText } from "@/features/chat/lib/foldParts";
import { isSendKey } from "@/features/chat/lib/sendKey";
import { fromStored } from "@/features/chat/lib/stored";
import { argumentHint, pageOfOutput, spokenName } from "@/features/chat/lib/tools";
import { sendBody } from "@/features/chat/lib/transport";
import type { ChatMessage } from "@/features/chat/types";

type Parts = ChatMessage["parts"];
const tool = (id: string, rest: object) => ({ type: "tool-getPage", toolCallId: id, ...rest });

describe("the parts of an answer", () => {
  const parts = [
    { type: "step-start" },
    { type: "reasoning", text: "Hm.", state: "done" },
    { type: "text", text: "Let me look.", state: "done" },
    tool("k1", { state: "output-available", input: { pageId: "1" }, output: { title: "Leave" } }),
    tool("k2", { state: "output-error", input: {}, errorText: "No such page." }),
    { type: "step-start" },
    tool("k3", { state: "input-available", input: {} }),
    { type: "text", text: "", state: "done" },
    { type: "source-url", sourceId: "p7", url: "/s/h/p/leave-7#b1", title: "Leave" },
    { type: "text", text: "Up to 240 hours.", state: "streaming" },
    { type: "source-url", sourceId: "p7", url: "/s/h/p/leave-7#b1", title: "Leave" },
  ] as Parts;

  it("are folded into texts, thoughts, groups of calls and sources, in order", () => {
    const { segments, sources } = foldParts(parts, true);
    expect(segments.map((segment) => segment.kind)).toEqual(["reasoning", "text", "tools", "text"]);
    expect(sources).toEqual([{ id: "p7", url: "/s/h/p/leave-7#b1", title: "Leave" }]);
  });

  it("tell a running call from one that was never made (KC-07)", () => {
    const states = (live: boolean) =>
      foldParts(parts, live).segments.flatMap((segment) =>
        segment.kind === "tools" ? segment.tools.map((call) => call.state) : [],
      );
    expect(states(true)).toEqual(["ok", "failed", "running"]);
    expect(states(false)).toEqual(["ok", "failed", "notRun"]);
  });

  it("mark only the text that is still being written", () => {
    const live = foldParts(parts, true).segments.map((s) => s.kind === "text" && s.live);
    expect(live).toEqual([false, false, false, true]);
    expect(foldParts(parts, false).segments.some((s) => s.kind === "text" && s.live)).toBe(false);
  });

  it("are copied as their texts alone", () => {
    expect(messageText({ parts })).toBe("Let me look.\n\nUp to 240 hours.");
  });
});

describe("a stored message", () => {
  it("keeps its parts and carries its status in the metadata", () => {
    const stored = {
      id: "m1",
      role: "assistant" as const,
      parts: [{ type: "text" as const, text: "Hi" }],
      metadata: { inputTokens: 3 },
      status: "aborted" as const,
      createdAt: "2026-11-01T00:00:00Z",
    };
    expect(fromStored([stored])).toEqual([
      { id: "m1", role: "assistant", parts: stored.parts, metadata: { inputTokens: 3, status: "aborted" } },
    ]);
  });
});

describe("a request", () => {
  const messages = [
    { id: "a", role: "user", parts: [{ type: "text", text: "old" }] },
    { id: "b", role: "assistant", parts: [{ type: "text", text: "answer" }], metadata: {} },
    { id: "c", role: "user", parts: [{ type: "text", text: "new" }] },
  ] as ChatMessage[];

  it("carries the last message alone, and says no null", () => {
    const send = { id: "k", messages, trigger: "submit-message", messageId: undefined };
    expect(sendBody(send, { chatId: null, pageId: null })).toEqual({
      id: "k",
      messages: [{ id: "c", role: "user", parts: [{ type: "text", text: "new" }] }],
      trigger: "submit-message",
    });
  });

  it("names the chat and the open page (UI-19)", () => {
    const send = { id: "k", messages, trigger: "regenerate-message", messageId: "b" };
    const body = sendBody(send, { chatId: "c1", pageId: "p1" });
    expect(body).toMatchObject({ chatId: "c1", pageId: "p1", messageId: "b" });
  });
});

describe("errors by kind", () => {
  const refused = (statusCode: number, error: string) =>
    Object.assign(new Error(JSON.stringify({ error, message: "Words." })), { statusCode });

  it.each([
    [refused(401, "unauthenticated"), "auth", "resend"],
    [refused(403, "chat_disabled"), "disabled", "resend"],
    [refused(503, "not_configured"), "notConfigured", "resend"],
    [refused(429, "rate_limited"), "rateLimit", "resend"],
    [refused(422, "prompt_too_long"), "tooLong", "resend"],
    [refused(409, "turn_running"), "running", "follow"],
    [refused(503, "unavailable"), "unavailable", "resend"],
    [Object.assign(new Error("<html>"), { statusCode: 504 }), "timeout", "resend"],
    [new TypeError("Failed to fetch"), "network", "resend"],
    [new Error("The provider answered 500."), "answer", "regenerate"],
    [new Error('{"error":"provider_error","message":"Words."}'), "provider", "regenerate"],
  ])("%s is %s and is tried again by %s", (error, kind, retry) => {
    expect(readChatError(error)).toMatchObject({ kind, retry });
  });

  it("show the server's words, never its markup", () => {
    expect(readChatError(refused(429, "rate_limited")).text).toBe("Words.");
    expect(readChatError(Object.assign(new Error("<html>"), { statusCode: 502 })).text).toBeNull();
  });

  it("offer no second try where only somebody else can help", () => {
    expect(canRetry("notConfigured")).toBe(false);
    expect(canRetry("rateLimit")).toBe(true);
  });
});

describe("the line of a tool call", () => {
  const origin = "https://wiki.example.org";

  it("says what was asked for, or which page came back", () => {
    expect(argumentHint({ query: "leave" }, undefined, origin)).toBe("leave");
    const output = { page: { title: "Leave", url: "/s/h/p/leave-7" } };
    expect(argumentHint({}, output, origin)).toBe("Leave");
    expect([...argumentHint({ query: "😀".repeat(100) }, undefined, origin)]).toHaveLength(60);
  });

  it("links only to pages of this wiki", () => {
    expect(pageOfOutput({ url: "/s/h/p/leave-7", title: "Leave" }, origin)?.to).toBe("/s/h/p/leave-7");
    expect(pageOfOutput({ url: "https://evil.example.net/" }, origin)).toBeNull();
    expect(pageOfOutput({ url: "javascript:alert(1)" }, origin)).toBeNull();
    expect(pageOfOutput("text", origin)).toBeNull();
  });

  it("names a tool from elsewhere in words", () => {
    expect(spokenName("lookUp_weatherNow")).toBe("Look up weather now");
  });
});

describe("the prompt (UI-12)", () => {
  const key = { key: "Enter", shiftKey: false, isComposing: false, keyCode: 13 };

  it("is sent by Enter, not by Shift+Enter or while a word is being composed", () => {
    expect(isSendKey(key)).toBe(true);
    expect(isSendKey({ ...key, shiftKey: true })).toBe(false);
    expect(isSendKey({ ...key, isComposing: true })).toBe(false);
    expect(isSendKey({ ...key, keyCode: 229 })).toBe(false);
    expect(isSendKey({ ...key, key: "a" })).toBe(false);
  });
});

describe("reading an answer out", () => {
  it("says whole sentences, each once, and the rest at the end", () => {
    const text = "Up to **240** hours. See [Leave](/s/h/p/l-7). And mo";
    const first = nextAnnouncement(text, 0, false);
    expect(first.say).toBe("Up to 240 hours. See Leave.");
    expect(nextAnnouncement(text, first.spoken, false).say).toBe("");
    expect(nextAnnouncement(`${text}re`, first.spoken, true).say).toBe("And more");
  });
});

describe("reconnecting", () => {
  it("waits longer each time, up to a bound", () => {
    const waits = Array.from({ length: RECONNECT_ATTEMPTS }, (_, turn) => backoff(turn, () => 0.5));
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBe(500);
    expect(backoff(50, () => 1)).toBe(18_750);
  });
});
