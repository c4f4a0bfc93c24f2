import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chatUi, newChat, openChat, useChatUi } from "@/features/chat/chatUi";
import { ChatSession } from "@/features/chat/components/ChatSession";
import type { PageAction } from "@/features/chat/types";
import { FakeServer, json, refusal, stream } from "./fakeServer";
import { show } from "./render";
import { StoredChat } from "./storedChat";

const SEND = "POST /v1/ai/chat/tenant";
const leave: PageAction = { pageId: "p7", title: "Leave", url: "/s/h/p/leave-7", action: "edited", version: 3 };

let server: FakeServer;
let kept: StoredChat;

function Panel() {
  const { active } = useChatUi();
  return <ChatSession key={active.key} active={active} />;
}

const summary = (rest: object = {}) =>
  json({ id: "c1", title: "Leave", pageId: null, createdAt: "", updatedAt: "", model: null, ...rest });
const answers = (id: string, words: string) => () => {
  kept.answer(id, words);
  return stream(
    { type: "start", messageId: id, messageMetadata: { chatId: "c1" } },
    { type: "text-start", id: "x" },
    { type: "text-delta", id: "x", delta: words },
    { type: "text-end", id: "x" },
    { type: "finish", finishReason: "stop", messageMetadata: {} },
  );
};
const body = () => server.asked(SEND).at(-1)?.body as Record<string, unknown>;

function signedInAs(role: string): void {
  server.on("GET /v1/auth/me", () => json({ user: { id: "u", email: "e", name: "n", role }, workspace: {} }));
}

async function open() {
  openChat("c1");
  show(<Panel />);
  await screen.findByRole("log");
}

beforeEach(() => {
  newChat();
  server = new FakeServer();
  kept = new StoredChat("c1");
  kept.serve(server);
  signedInAs("member");
  server.on("GET /v1/ai/chats", () => json({ items: [], nextCursor: null }));
  server.on("GET /v1/ai/chats/c1", () => summary());
  server.on("GET /v1/ai/models", () => json({ items: [{ model: "big", isDefault: true }], showModelSelector: true }));
  server.on("GET /v1/ai/chat/tenant/c1/stream", () => new Response(null, { status: 204 }));
});

afterEach(() => server.close());

describe("the versions of a message", () => {
  beforeEach(() => {
    const branch = { index: 1, ids: ["m0", "m1", "m2"] };
    kept.question("u1", "Hi").answer("m1", "Hello.", { branch, hiddenChanges: [leave] });
  });

  it("are counted and switched, with the focus left where it is", async () => {
    server.on("POST /v1/ai/chats/c1/branch", () => {
      kept.cut("m1").answer("m2", "Good day.", { branch: { index: 2, ids: ["m0", "m1", "m2"] } });
      return new Response(null, { status: 204 });
    });
    await open();
    const versions = screen.getByRole("group", { name: "Version 2 of 3" });
    const next = within(versions).getByRole("button", { name: "Next version" });
    next.focus();
    fireEvent.click(next);
    await screen.findByText("Good day.");
    expect(server.asked("POST /v1/ai/chats/c1/branch")[0]?.body).toEqual({ messageId: "m2" });
    expect(screen.getByRole("group", { name: "Version 3 of 3" })).toBe(versions);
    expect(document.activeElement).toBe(next);
    expect(next.getAttribute("aria-disabled")).toBe("true");
  });

  it("say what the others did to pages, and lead to the page and its history", async () => {
    await open();
    const note = screen.getByRole("region", { name: /another version changed these pages/i });
    const links = within(note).getAllByRole("link").map((link) => link.getAttribute("href"));
    expect(links).toEqual(["/s/h/p/leave-7", "/s/h/p/leave-7/history"]);
    expect(note.textContent).toContain("edited, version 3");
  });
});

describe("a message of one's own", () => {
  beforeEach(() => kept.question("u1", "Hi").answer("m1", "Hello."));

  async function edit(text: string, key: string) {
    await open();
    fireEvent.click(screen.getByRole("button", { name: "Edit the message" }));
    const box = screen.getByRole("textbox", { name: "Your message in other words" });
    fireEvent.change(box, { target: { value: text } });
    fireEvent.keyDown(box, { key });
  }

  it("is put in other words in its place and sent by Enter", async () => {
    server.on(SEND, () => {
      kept.cut("u1").question("u2", "Hey", ["u1", "u2"]);
      return answers("m2", "Hey you.")();
    });
    await edit("Hey", "Enter");
    await screen.findByText("Hey you.");
    expect(body()).toMatchObject({ messages: [{ id: "u1", parts: [{ type: "text", text: "Hey" }] }] });
    expect(screen.queryByText("Hello.")).toBeNull();
  });

  it.each([
    ["Hey", "Escape"],
    ["Hi ", "Enter"],
  ])("stays as it was after %j and %s", async (text, key) => {
    await edit(text, key);
    expect(screen.queryByRole("textbox", { name: /other words/ })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit the message" }));
    expect(server.asked(SEND)).toEqual([]);
  });
});

describe("an answer", () => {
  it("goes on where it reached its limit", async () => {
    kept.question("u1", "Hi").answer("m1", "Half", { metadata: { truncated: true } });
    server.on(SEND, answers("m2", "and whole."));
    await open();
    fireEvent.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByText("and whole.");
    expect(screen.getByText("Half")).toBeTruthy();
    expect(body()).toMatchObject({ continue: true });
    await waitFor(() => expect(screen.queryByRole("button", { name: "Continue" })).toBeNull());
  });

  it("can be asked for again, also when more has been said since", async () => {
    kept.question("u1", "Hi").answer("m1", "Hello.").question("u2", "And?").answer("m2", "So.");
    server.on(SEND, () => {
      kept.cut("m1");
      return answers("m3", "Good day.")();
    });
    await open();
    const [first] = screen.getAllByRole("button", { name: "Answer again" });
    if (first) fireEvent.click(first);
    await screen.findByText("Good day.");
    expect(body()).toMatchObject({ trigger: "regenerate-message", messageId: "m1" });
  });

  it("names the pages that it wrote", async () => {
    const calendar: PageAction = { ...leave, pageId: "p9", title: "Calendar", url: "/s/h/p/calendar-9", action: "created", version: 1 };
    kept.question("u1", "Hi").answer("m1", "Done.", { metadata: { changes: [leave, calendar] } });
    await open();
    const written = screen.getByRole("region", { name: /pages that this answer wrote/i });
    expect(written.textContent).toContain("Leaveedited, version 3");
    expect(within(written).getByRole("link", { name: "History of Calendar" }).getAttribute("href")).toBe("/s/h/p/calendar-9/history");
  });

  it("tells what it took", async () => {
    const metadata = { model: "big", inputTokens: 1200, outputTokens: 96, timeMs: 2310, contextTokens: 900, contextWindow: 128_000, costInCents: 0.42 };
    kept.question("u1", "Hi").answer("m1", "Done.", { metadata });
    await open();
    expect(screen.getByRole("button", { name: "big" }).title).toBe(
      "1,200 tokens in, 96 out, 2.3 s\ncontext: 900 of 128,000 tokens\ncost: $0.0042",
    );
  });

  it("shows of an edit what was not applied, and in its card why", async () => {
    kept.question("u1", "Hi").answer("m1", "Done.");
    const output = { ...leave, applied: [{ find: "240", replacements: 3 }], failed: [{ find: "nowhere", reason: "Not on the page." }], changed: true };
    const input = { pageId: "p7", edits: [{ find: "240", replace: "200", replaceAll: true }] };
    kept.messages[1]?.parts.unshift({ type: "tool-editPageText", toolCallId: "k", state: "output-available", input, output });
    await open();
    const refused = screen.getByRole("list", { name: "Not applied" });
    expect(refused.textContent).toBe("Not applied: nowhere");
    const card = screen.getByText("Edited a page").closest("details");
    if (card) card.open = true;
    await waitFor(() => expect(refused.textContent).toBe("Not applied: nowhere Not on the page."));
    await waitFor(() => expect(document.querySelector(".tool-edits")?.textContent).toBe("240200in 3 places"));
    expect(screen.getByRole("link", { name: "Open the page" }).getAttribute("href")).toBe("/s/h/p/leave-7");
  });
});

describe("an answer that failed", () => {
  const failed = () =>
    kept.question("u1", "Hi").answer("m1", "I was", {
      status: "error",
      metadata: { errorCode: "provider_auth", error: "The provider answered 401." },
    });

  it("tells an administrator where to mend it", async () => {
    signedInAs("owner");
    failed();
    await open();
    const alert = screen.getByRole("alert");
    expect(alert.textContent).toContain("The model's provider did not accept the key");
    expect(alert.textContent).toContain("The provider answered 401.");
    const link = await within(alert).findByRole("link", { name: "Open the AI settings" });
    expect(link.getAttribute("href")).toBe("/settings/ai");
  });

  it("tells a member who can help", async () => {
    failed();
    await open();
    const alert = screen.getByRole("alert");
    expect(alert.textContent).toContain("An administrator of the workspace can help.");
    expect(within(alert).queryByRole("link")).toBeNull();
  });

  it("stays named after the conversation went on", async () => {
    failed().question("u2", "And?").answer("m2", "So.");
    await open();
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByText("The model's provider did not accept the key")).toBeTruthy();
  });

  it("names what the settings lack", async () => {
    kept.question("u1", "Hi").answer("m1", "Hello.");
    server.on(SEND, () => json({ error: "not_configured", message: "m", details: { missing: ["apiKey", "region"] } }, 503));
    await open();
    await ask("And?");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Still missing: the provider's key, region.");
  });

  it("lets another try in when the time has come", async () => {
    server.on(SEND, () => json({ error: "rate_limited", message: "m" }, 429, { "retry-after": "1" }));
    await open();
    await ask("Hi");
    await screen.findByRole("alert");
    await screen.findByRole("button", { name: "Try again in 1 s" });
    const again = await screen.findByRole("button", { name: "Try again" }, { timeout: 3000 });
    expect(again.hasAttribute("disabled")).toBe(false);
  });
});

async function ask(question: string) {
  const box = await screen.findByRole("textbox", { name: "Message" });
  fireEvent.change(box, { target: { value: question } });
  fireEvent.keyDown(box, { key: "Enter" });
}

describe("the model of a chat", () => {
  const offer = (showModelSelector: boolean) =>
    server.on("GET /v1/ai/models", () =>
      json({ items: [{ model: "big", isDefault: true }, { model: "small", isDefault: false }], showModelSelector }),
    );

  it("is chosen where that is allowed, sent along, and kept on the chat", async () => {
    offer(true);
    server.on("PATCH /v1/ai/chats/c1", () => summary({ model: "small" }));
    kept.question("u1", "Hi").answer("m1", "Hello.");
    server.on(SEND, answers("m2", "So."));
    await open();
    const select = await screen.findByRole<HTMLSelectElement>("combobox", { name: "Model" });
    expect(select.value).toBe("big");
    fireEvent.change(select, { target: { value: "small" } });
    await waitFor(() => expect(server.asked("PATCH /v1/ai/chats/c1")[0]?.body).toEqual({ model: "small" }));
    await ask("And?");
    await screen.findByText("So.");
    expect(body()).toMatchObject({ model: "small" });
  });

  it("is chosen anew when it is not offered any more", async () => {
    offer(true);
    server.on("PATCH /v1/ai/chats/c1", () => refusal(400, "unknown_model"));
    server.on(SEND, () => refusal(400, "unknown_model"));
    await open();
    fireEvent.change(await screen.findByRole("combobox"), { target: { value: "small" } });
    await ask("Hi");
    expect((await screen.findByRole("alert")).textContent).toContain("This model is not offered any more");
    await waitFor(() => expect(server.asked("GET /v1/ai/models")).toHaveLength(2));
    server.on(SEND, answers("m1", "Hello."));
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("Hello.");
    expect(body()).not.toHaveProperty("model");
  });

  it("is the chat's own when it is opened again", async () => {
    offer(true);
    server.on("GET /v1/ai/chats/c1", () => summary({ model: "small" }));
    await open();
    const select = await screen.findByRole<HTMLSelectElement>("combobox", { name: "Model" });
    await waitFor(() => expect(select.value).toBe("small"));
  });

  it("is no question where only one is offered or the choice is hidden", async () => {
    offer(false);
    kept.question("u1", "Hi").answer("m1", "Hello.");
    await open();
    await waitFor(() => expect(server.asked("GET /v1/ai/models")).toHaveLength(1));
    expect(screen.queryByRole("combobox")).toBeNull();
    expect(chatUi().active.model).toBeNull();
  });
});

describe("the tokens of a chat", () => {
  it("are counted against the ceiling", async () => {
    server.on("GET /v1/ai/chats/c1", () => summary({ tokensUsed: 47_000, tokenCeiling: 50_000 }));
    await open();
    const count = await screen.findByText("47K of 50K tokens");
    expect(count.title).toBe("This chat has used 47,000 of 50,000 tokens");
    expect(count.hasAttribute("data-nearly")).toBe(true);
  });

  it("are not mentioned without one", async () => {
    server.on("GET /v1/ai/chats/c1", () => summary({ tokensUsed: 47_000, tokenCeiling: null }));
    await open();
    await waitFor(() => expect(server.asked("GET /v1/ai/chats/c1").length).toBeGreaterThan(0));
    expect(document.querySelector(".token-count")).toBeNull();
  });

  it("send the reader to a new chat when they are used up", async () => {
    kept.question("u1", "Hi").answer("m1", "Hello.");
    server.on(SEND, () => refusal(403, "token_ceiling"));
    await open();
    await ask("And?");
    const alert = await screen.findByRole("alert");
    fireEvent.click(within(alert).getByRole("button", { name: "New chat" }));
    await waitFor(() => expect(chatUi().active.chatId).toBeNull());
  });
});
