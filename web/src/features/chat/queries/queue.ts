import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "@/shared/api/client";
import { ApiError, parseErrorBody } from "@/shared/api/errors";
import { CHAT_API, type SendBody } from "../lib/transport";
import type { Queue, QueuedItem } from "../types";

const PATIENCE_MS = 30_000; // the server begins every answer within 20 s

const NOTHING: Queue = { items: [], held: false };

const queueUrl = (chat: string) => `/v1/ai/chats/${encodeURIComponent(chat)}/queue`;
const itemUrl = (chat: string, item: string) => `${queueUrl(chat)}/${encodeURIComponent(item)}`;
const keyOf = (chat: string | null) => ["chat-queue", chat] as const;

/** What waits in a chat, looked at again after so many milliseconds; null: nothing is known of it. */
export function useQueue(chat: string | null, again: (queue: Queue) => number | false): Queue {
  const query = useQuery({
    queryKey: keyOf(chat),
    enabled: chat !== null,
    staleTime: 0,
    queryFn: ({ signal }) => api.get<Queue>(queueUrl(chat ?? ""), { signal }),
    refetchInterval: ({ state }) => again(state.data ?? NOTHING),
  });
  return query.data ?? NOTHING;
}

/** Changes what is shown of a queue, ahead of the next look at it. */
export function useChangeQueue(chat: string | null) {
  const client = useQueryClient();
  return useMemo(() => {
    const queryKey = keyOf(chat);
    return {
      refresh: () => client.invalidateQueries({ queryKey }),
      async change(change: (items: QueuedItem[]) => QueuedItem[]): Promise<void> {
        await client.cancelQueries({ queryKey }); // what is on its way is older
        client.setQueryData<Queue>(queryKey, (queue = NOTHING) => ({
          ...queue,
          items: change(queue.items),
        }));
      },
    };
  }, [client, chat]);
}

/**
 * Lets a message wait for the answer that is being written. Null: none is, and this message is
 * being answered already.
 */
export async function postQueued(send: SendBody): Promise<QueuedItem | null> {
  const response = await fetch(CHAT_API, {
    method: "POST",
    credentials: "same-origin",
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...send, whenRunning: "queue" }),
  }).catch(() => {
    throw new ApiError(0, { error: "network", message: "No connection to the server." });
  });
  if (response.status === 202) return ((await response.json()) as { queued: QueuedItem }).queued;
  if (response.ok) {
    await response.body?.cancel();
    return null;
  }
  const body = parseErrorBody(await response.text());
  throw new ApiError(response.status, body ?? { error: "error", message: response.statusText });
}

export const removeQueued = (chat: string, item: string) => api.delete<void>(itemUrl(chat, item));

export const sendQueuedNow = (chat: string, item: string) =>
  api.post<unknown>(`${itemUrl(chat, item)}/now`);
