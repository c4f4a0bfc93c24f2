import { generateId } from "ai";
import { useEffect, useMemo, useRef } from "react";
import { type ActiveChat, chatUi } from "../chatUi";
import { gone, lookAgain, mustWait } from "../lib/queue";
import { sendBody } from "../lib/transport";
import {
  postQueued,
  removeQueued,
  sendQueuedNow,
  useChangeQueue,
  useQueue,
} from "../queries/queue";
import type { ChatMessage, QueuedItem } from "../types";
import type { LiveChat, useStoredMessages } from "./useStoredMessages";

interface Options {
  chat: LiveChat;
  active: ActiveChat;
  stored: ReturnType<typeof useStoredMessages>;
  /** Shows what was asked meanwhile, and goes on with its answer. */
  follow: () => void;
}

/** The messages that wait in a chat, and the answers to those that the server has sent. */
export function useQueueing({ chat, active, stored, follow }: Options) {
  const busy = chat.status === "submitted" || chat.status === "streaming";
  const { chatId } = active;
  const idleSince = useRef(0);
  const queue = useQueue(chatId, (now) => lookAgain(now, busy, Date.now() - idleSince.current));
  const { refresh, change } = useChangeQueue(chatId);
  const seen = useRef(new Set<string>());
  const before = useRef(Promise.resolve()); // two at once could arrive in the other order
  const latest = useRef(active);
  latest.current = active;

  useEffect(() => {
    if (busy || chatId === null) return;
    idleSince.current = Date.now();
    void refresh();
  }, [busy, chatId, refresh]);

  const last = chat.messages.at(-1)?.id;
  useEffect(() => {
    const sent = gone(seen.current, queue);
    for (const { id } of queue.items) seen.current.add(id);
    if (sent.length === 0) return;
    if (busy) {
      // After a line that was down, the answer that comes in may be that to a message which
      // waited, whose question is not shown yet.
      void stored.refreshAbove().catch(() => {}); // the end of the answer looks again
      return;
    }
    for (const id of sent) seen.current.delete(id);
    follow();
  }, [queue, busy, last, stored, follow]);

  const actions = useMemo(
    () => ({
      add(text: string): Promise<void> {
        const mine = before.current.then(async () => {
          const queued = await postQueued(bodyOf(text, latest.current));
          if (queued === null) follow();
          else await change((items) => withItem(items, queued));
        });
        before.current = mine.catch(() => {});
        return mine;
      },
      async remove(id: string): Promise<void> {
        await removeQueued(latest.current.key, id);
        seen.current.delete(id);
        await change((items) => items.filter((item) => item.id !== id));
      },
      async now(id: string): Promise<void> {
        await sendQueuedNow(latest.current.key, id);
        await refresh();
      },
    }),
    [follow, change, refresh],
  );
  const waits = mustWait(queue, chat.status === "streaming" && chatId !== null);
  // While an answer is being written, what waits waits for that.
  return { items: queue.items, held: queue.held && !busy, waits, ...actions };
}

export type Queueing = ReturnType<typeof useQueueing>;

function bodyOf(text: string, { key, chatId, model }: ActiveChat) {
  const message: ChatMessage = { id: generateId(), role: "user", parts: [{ type: "text", text }] };
  const send = { id: key, messages: [message], trigger: "submit-message", messageId: undefined };
  return sendBody(send, { chatId, model, pageId: chatUi().page?.id ?? null });
}

const withItem = (items: QueuedItem[], item: QueuedItem) =>
  items.some(({ id }) => id === item.id) ? items : [...items, item];
