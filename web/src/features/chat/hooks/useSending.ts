import { generateId } from "ai";
import { type RefObject, useCallback, useMemo, useRef } from "react";
import { markSent } from "../chatUi";
import { messageText } from "../lib/foldParts";
import { countUserMessages, viewKey } from "../lib/stored";
import { CONTINUE } from "../lib/transport";
import type { ChatMessage } from "../types";
import type { Ending } from "./useReconnect";
import type { LiveChat, useStoredMessages } from "./useStoredMessages";

/** Something that was asked of the server, so that it can be asked again. */
export interface Request {
  run: () => Promise<void>;
  /** What stood before, for when it is refused; null where a message stays to be sent again. */
  before: ChatMessage[] | null;
  /** Whether the server has had it, by the messages that it keeps. */
  arrived: (stored: ChatMessage[]) => boolean;
  /** It was lost on its way and has been sent again by itself. */
  resent?: boolean;
}

interface Options {
  chat: LiveChat;
  /** The chat's key in this browser. */
  active: string;
  ending: RefObject<Ending>;
  last: RefObject<Request | null>;
  stored: ReturnType<typeof useStoredMessages>;
}

/** The four ways to ask for an answer: a message, another text of one, another answer, more. */
export function useSending({ chat, active, ending, last, stored }: Options) {
  const latest = useRef(chat);
  latest.current = chat;

  const perform = useCallback(
    async (request: Request) => {
      last.current = request;
      stored.began();
      ending.current = { kind: "none", status: null };
      await request.run();
      // Written by the chat's callbacks while the line above waited.
      const { kind, status } = ending.current;
      const refused = kind === "error" && status !== null;
      if (!refused || request.before === null || last.current !== request) return;
      latest.current.setMessages(request.before);
      if (status === 409) await stored.refresh().catch(() => {});
    },
    [ending, last, stored],
  );

  return useMemo(() => {
    const now = () => latest.current;
    return {
      send(text: string) {
        markSent(active);
        const id = generateId();
        const count = countUserMessages(now().messages) + 1;
        const again = () => now().messages.some((message) => message.id === id);
        void perform({
          run: () =>
            again()
              ? now().sendMessage({ text, messageId: id })
              : now().sendMessage({ id, role: "user", parts: [{ type: "text", text }] }),
          before: null,
          arrived: (kept) => countUserMessages(kept) >= count,
        });
      },
      edit(message: ChatMessage, text: string) {
        const metadata = { key: viewKey(message) };
        void perform({
          run: () => now().sendMessage({ text, messageId: message.id, metadata }),
          before: now().messages,
          arrived: (kept) => {
            const question = kept.findLast(({ role }) => role === "user");
            return question !== undefined && messageText(question) === text;
          },
        });
      },
      /** A new answer beside that one; without an id, an answer to the last message. */
      regenerate(messageId: string | undefined) {
        void perform({
          run: () => now().regenerate(messageId === undefined ? {} : { messageId }),
          before: now().messages,
          arrived: (kept) =>
            messageId === undefined
              ? kept.at(-1)?.role === "assistant"
              : !kept.some(({ id }) => id === messageId),
        });
      },
      goOn() {
        const { messages } = now();
        const end = messages.at(-1)?.id;
        const question = messages.findLast(({ role }) => role === "user")?.id;
        // The SDK would write on in the last message; called after the question, what comes
        // becomes a message of its own, as it is stored.
        const options = { body: CONTINUE, messageId: question };
        void perform({
          run: () => now().sendMessage(undefined, options),
          before: messages,
          arrived: (kept) => kept.at(-1)?.id !== end,
        });
      },
      again() {
        if (last.current === null) return false;
        void perform(last.current);
        return true;
      },
      /** The same by itself, once: a server that had it already finds its turn. */
      resend() {
        if (last.current === null || last.current.resent) return false;
        last.current.resent = true;
        void perform(last.current);
        return true;
      },
    };
  }, [active, last, perform]);
}
