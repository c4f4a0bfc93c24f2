import { describe, expect, it } from "vitest";
import { nextAnnouncement } from "@/features/chat/lib/announce";
import { RECONNECT_ATTEMPTS, backoff } from "@/features/chat/lib/backoff";
import {
  canRetry,
  isForAdmins,
  needsNewChat,
  readChatError,
  storedError,
} from "@/features/chat/lib/chatErrors";
import { foldParts, messageText } from "@/features/chat/lib/foldParts";
import { isSendKey } from "@/features/chat/lib/sendKey";
import { fromStored, mergeStored, viewKey } from "@/features/chat/lib/stored";
import { type ToolEdits, toolEdits } from "@/features/chat/lib/toolEdits";
import { argumentHint, historyPath, pageOfOutput, spokenName } from "@/features/chat/lib/tools";
import { sendBody } from "@/features/chat/lib/transport";
import { usageTexts } from "@/features/chat/lib/usage";
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
    const metadata = { inputTokens: 3, status: "aborted", branch: null, hiddenChanges: [], key: "m1" };
    expect(fromStored([stored])).toEqual([
      { id: "m1", role: "assistant", parts: stored.parts, metadata },
    ]);
  });
});

describe("the stored messages in place of the shown ones", () => {
  const message = (id: string, role: "user" | "assistant", words: string, branch?: string[]) => ({
    id,
    role,
    parts: [{ type: "text" as const, text: words }],
    metadata: null,
    status: "complete" as const,
    createdAt: "2026-11-01T00:00:00Z",
    branch: branch ? { index: branch.indexOf(id), ids: branch } : null,
  });
  const sent = { id: "mine", role: "user", parts: [{ type: "text", text: "Hi" }] } as ChatMessage;
  const written = { id: "m1", role: "assistant", parts: [], metadata: {} } as ChatMessage;

  it("take the server's ids and keep their places", () => {
    const stored = fromStored([message("u1", "user", "Hi"), message("m1", "assistant", "Hello.")]);
    const merged = mergeStored([sent, written], stored);
    expect(merged.map(({ id }) => id)).toEqual(["u1", "m1"]);
    expect(merged.map(viewKey)).toEqual(["mine", "m1"]);
  });

  it("stay the same objects where nothing differs, so that nothing is drawn again", () => {
    const list = [message("u1", "user", "Hi"), message("m1", "assistant", "Hello.")];
    const shown = fromStored(list);
    const more = fromStored([...list, message("u2", "user", "And?")]);
    const merged = mergeStored(shown, more);
    expect(merged[0]).toBe(shown[0]);
    expect(merged[1]).toBe(shown[1]);
    expect(merged).toHaveLength(3);
  });

  it("keep the place of a message when another version of it is shown", () => {
    const ids = ["m1", "m2"];
    const shown = fromStored([message("u1", "user", "Hi"), message("m1", "assistant", "One.", ids)]);
    const other = fromStored([message("u1", "user", "Hi"), message("m2", "assistant", "Two.", ids)]);
    expect(mergeStored(shown, other).map(viewKey)).toEqual(["u1", "m1"]);
    const elsewhere = fromStored([message("u9", "user", "Bye")]);
    expect(mergeStored(shown, elsewhere).map(viewKey)).toEqual(["u9"]);
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
    expect(sendBody(send, { chatId: null, pageId: null, model: null })).toEqual({
      id: "k",
      messages: [{ id: "c", role: "user", parts: [{ type: "text", text: "new" }] }],
      trigger: "submit-message",
    });
  });

  it("names the chat, the open page and the chosen model (UI-19)", () => {
    const send = { id: "k", messages, trigger: "regenerate-message", messageId: "b" };
    const body = sendBody(send, { chatId: "c1", pageId: "p1", model: "small" });
    expect(body).toMatchObject({ chatId: "c1", pageId: "p1", model: "small", messageId: "b" });
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
    [refused(403, "token_ceiling"), "tokenCeiling", "resend"],
    [refused(400, "unknown_model"), "unknownModel", "resend"],
    [refused(409, "nothing_to_continue"), "changed", "resend"],
    [refused(422, "prompt_too_long"), "tooLong", "resend"],
    [refused(409, "turn_running"), "running", "follow"],
    [refused(503, "unavailable"), "unavailable", "resend"],
    [Object.assign(new Error("<html>"), { statusCode: 504 }), "unavailable", "resend"],
    [new TypeError("Failed to fetch"), "network", "resend"],
    [new Error("The provider answered 500."), "answer", "regenerate"],
    [new Error('{"error":"provider_error","message":"Words."}'), "providerError", "regenerate"],
  ])("%s is %s and is tried again by %s", (error, kind, retry) => {
    expect(readChatError(error)).toMatchObject({ kind, retry });
  });

  it("show the server's words, never its markup", () => {
    expect(readChatError(refused(429, "rate_limited")).text).toBe("Words.");
    expect(readChatError(Object.assign(new Error("<html>"), { statusCode: 502 })).text).toBeNull();
  });

  it.each([
    ["provider_auth", "providerAuth"],
    ["provider_quota", "providerQuota"],
    ["provider_rate_limit", "providerRateLimit"],
    ["provider_overloaded", "providerOverloaded"],
    ["provider_error", "providerError"],
    ["provider_timeout", "providerTimeout"],
    ["provider_network", "providerNetwork"],
    ["provider_bad_response", "providerBadResponse"],
    ["context_too_long", "contextTooLong"],
    ["model_not_found", "modelNotFound"],
    ["tools_unsupported", "toolsUnsupported"],
    ["content_filter", "contentFilter"],
    ["not_configured", "notConfigured"],
    ["out_of_attempts", "outOfAttempts"],
    ["internal", "internal"],
    ["unauthenticated", "auth"],
    ["token_ceiling", "tokenCeiling"],
    ["something_new", "answer"],
  ])("a turn's code %s is %s, while it runs and when it is read again", (errorCode, kind) => {
    const stored = storedError({ status: "error", errorCode, error: "Words." });
    expect(stored).toMatchObject({ kind, text: "Words.", retry: "regenerate" });
    expect(readChatError(new Error("Words."), { errorCode })).toEqual(stored);
  });

  it("are none where the stored answer did not fail", () => {
    expect(storedError({ status: "complete" })).toBeNull();
    expect(storedError(undefined)).toBeNull();
  });

  it("say what is missing and how long to wait", () => {
    const told = (details: unknown) =>
      readChatError(
        Object.assign(new Error(JSON.stringify({ error: "x", message: "m", details })), { statusCode: 503 }),
      );
    expect(told({ missing: ["apiKey"] }).missing).toEqual(["apiKey"]);
    expect(told({ retryAfter: 8 }).wait).toBe(8);
    expect(told(["odd"])).toMatchObject({ missing: [], wait: null });
  });

  it("offer what can help: another try, the settings, a new chat", () => {
    expect(canRetry("tooLong")).toBe(false);
    expect(canRetry("rateLimit")).toBe(true);
    expect(isForAdmins("providerAuth")).toBe(true);
    expect(isForAdmins("providerOverloaded")).toBe(false);
    expect(needsNewChat("contextTooLong")).toBe(true);
  });
});

describe("what an editing call did", () => {
  const call = (name: string, input: unknown, output: unknown): ToolEdits | null =>
    toolEdits({ id: "k", name, title: null, state: "ok", input, output, errorText: null });
  const edits = [
    { find: "240 hours", replace: "200 hours" },
    { find: "nowhere", replace: "x" },
  ];

  it("is told piece by piece, with the reason of each that failed", () => {
    const output = {
      applied: [{ find: "240 hours", replacements: 2 }],
      failed: [{ find: "nowhere", reason: "Not on the page." }],
      changed: true,
    };
    expect(call("editPageText", { edits }, output)).toEqual({
      applied: [{ find: "240 hours", replace: "200 hours", replacements: 2 }],
      failed: [{ find: "nowhere", reason: "Not on the page." }],
      unchanged: false,
    });
  });

  it("is read from whatever comes without breaking", () => {
    expect(call("editPageText", null, { applied: "odd", failed: [7], changed: false })).toEqual({
      applied: [],
      failed: [],
      unchanged: true,
    });
    expect(call("updatePageContent", {}, undefined)).toBeNull();
    expect(call("getPage", {}, { applied: [] })).toBeNull();
  });
});

describe("what an answer took", () => {
  const took = { inputTokens: 1200, outputTokens: 96, timeMs: 2310 };

  it("is told in the reader's language, with context and cost where they are known", () => {
    const known = { ...took, contextTokens: 900, contextWindow: 128_000, costInCents: 0.4213 };
    expect(usageTexts(known, "en")).toEqual({
      input: "1,200",
      output: "96",
      seconds: "2.3",
      context: { used: "900", window: "128,000" },
      cost: "$0.0042",
    });
    expect(usageTexts({ ...took, costInCents: 250 }, "en")?.cost).toBe("$2.50");
  });

  it("is nothing while it is unknown, and has no cost where there is no price", () => {
    expect(usageTexts({}, "en")).toBeNull();
    expect(usageTexts({ ...took, costInCents: 0 }, "en")).toMatchObject({ cost: null, context: null });
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

  it("leads to the versions of a page of this wiki", () => {
    expect(historyPath("/s/h/p/leave-7#b1", origin)).toBe("/s/h/p/leave-7/history");
    expect(historyPath("https://evil.example.net/s/h/p/x", origin)).toBeNull();
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
    const first = nextAnnouncement(text, "", false);
    expect(first.say).toBe("Up to 240 hours. See Leave.");
    expect(nextAnnouncement(text, first.spoken, false).say).toBe("");
    expect(nextAnnouncement(`${text}re`, first.spoken, true).say).toBe("And more");
  });

  it("begins anew with words in place of withdrawn ones, not with the same ones sent again", () => {
    const { spoken } = nextAnnouncement("Up to 240 hours. See", "", false);
    expect(nextAnnouncement("It is 240 hours. See", spoken, false).say).toBe("It is 240 hours.");
    const again = nextAnnouncement("Up to", spoken, false);
    expect(again.say).toBe("");
    expect(nextAnnouncement("Up to 240 hours. So", again.spoken, true).say).toBe("So");
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
