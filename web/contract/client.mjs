/**
 * A chat as somebody builds it who has read only the AI SDK's documentation: the SDK's own
 * `Chat` and transport, an address and a token, nothing of this application.
 */
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";

const WAIT_MS = 20_000;
const POLL_MS = 5;

export class Client {
  #pending = new Set();
  #finishes = [];
  #errors = [];
  #statuses = ["ready"];

  constructor({ api, token, id, messages }) {
    this.chat = new Chat({
      ...(id === undefined ? {} : { id }),
      ...(messages === undefined ? {} : { messages }),
      transport: new DefaultChatTransport({ api, headers: { Authorization: `Bearer ${token}` } }),
      onFinish: ({ isAbort, isDisconnect, isError, finishReason }) =>
        this.#finishes.push({ isAbort, isDisconnect, isError, finishReason: finishReason ?? null }),
      onError: (error) => this.#errors.push(error.message),
    });
    this.chat["~registerStatusCallback"](() => this.#statuses.push(this.chat.status));
  }

  /** Calls a method of the chat and does not wait for it: see `settle`. */
  begin(method, ...given) {
    const running = this.chat[method](...given);
    this.#pending.add(running);
    const done = () => this.#pending.delete(running);
    running.then(done, done);
  }

  /** Until every call has returned. Rejects as a call does. */
  async settle() {
    await Promise.race([Promise.all(this.#pending), timeout("the calls did not return")]);
  }

  /** Until the last message says this. */
  async until(text) {
    const end = Date.now() + WAIT_MS;
    while (!this.#says(text)) {
      if (Date.now() > end) throw new Error(`the client never read ${JSON.stringify(text)}`);
      await pause(POLL_MS);
    }
  }

  #says(text) {
    const parts = this.chat.messages.at(-1)?.parts ?? [];
    return parts.some((part) => typeof part.text === "string" && part.text.includes(text));
  }

  state() {
    const { id, status, error, messages } = this.chat;
    return {
      id,
      status,
      error: error?.message ?? null,
      messages,
      finishes: this.#finishes,
      errors: this.#errors,
      statuses: this.#statuses,
    };
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const timeout = (what) =>
  new Promise((_, reject) => setTimeout(() => reject(new Error(what)), WAIT_MS).unref());
