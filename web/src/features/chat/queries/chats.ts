import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Listing, api } from "@/shared/api/client";
import { isStatus } from "@/shared/api/errors";
import { fromStored } from "../lib/stored";
import type { ChatMessage, ChatSummary, StoredMessage } from "../types";

const CHATS = "/v1/ai/chats";
const chatUrl = (id: string) => `${CHATS}/${encodeURIComponent(id)}`;
export const CHATS_KEY = ["chats"] as const;

export function useChats() {
  return useInfiniteQuery({
    queryKey: CHATS_KEY,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<Listing<ChatSummary>>(CHATS, { query: { cursor: pageParam, limit: 30 }, signal }),
    getNextPageParam: (last) => last.nextCursor,
    select: (data) => data.pages.flatMap((page) => page.items),
  });
}

/** Every message of a chat; null when the server does not know the chat. */
export async function fetchMessages(
  id: string,
  signal?: AbortSignal,
): Promise<ChatMessage[] | null> {
  const stored: StoredMessage[] = [];
  let cursor: string | null = null;
  try {
    do {
      const page: Listing<StoredMessage> = await api.get(`${chatUrl(id)}/messages`, {
        query: { cursor, limit: 100 },
        ...(signal ? { signal } : {}),
      });
      stored.push(...page.items);
      cursor = page.nextCursor ?? null;
    } while (cursor !== null);
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
  return fromStored(stored);
}

/** What a conversation starts from; afterwards the live chat is the truth. */
export function useFirstMessages(id: string, enabled: boolean) {
  return useQuery({
    queryKey: ["chat-messages", id],
    enabled,
    queryFn: ({ signal }) => fetchMessages(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: 2,
  });
}

/** One chat, as it stands in the list, also when the list has not come that far. */
export function useChatSummary(id: string | null) {
  const listed = useChats().data?.find((chat) => chat.id === id);
  const own = useQuery({
    queryKey: [...CHATS_KEY, id],
    enabled: id !== null,
    queryFn: ({ signal }) => api.get<ChatSummary>(chatUrl(id ?? ""), { signal }),
  });
  return own.data ?? listed ?? null;
}

const CHANGES_MS = 5_000; // soon enough for who sits before both windows

/**
 * When a chat last changed, and when that was read (ms, 0: never): looked at every few seconds
 * while `watch` holds and the window is visible, and whenever it is looked at again.
 */
export function useChatChanges(id: string | null, watch: boolean) {
  const { data, dataUpdatedAt } = useQuery({
    queryKey: [...CHATS_KEY, id],
    enabled: id !== null,
    queryFn: ({ signal }) => api.get<ChatSummary>(chatUrl(id ?? ""), { signal }),
    refetchInterval: watch ? CHANGES_MS : false,
    refetchOnWindowFocus: "always",
  });
  return { changedAt: data?.updatedAt ?? null, readAt: dataUpdatedAt };
}

export const showBranch = (chatId: string, messageId: string) =>
  api.post<void>(`${chatUrl(chatId)}/branch`, { messageId });

/** Renames a chat, or chooses its model. */
export function useChangeChat() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...change }: { id: string; title?: string; model?: string }) =>
      api.patch<ChatSummary>(chatUrl(id), change),
    onSettled: () => client.invalidateQueries({ queryKey: CHATS_KEY }),
  });
}

export function useDeleteChat() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.delete<void>(chatUrl(id)),
    onSettled: () => client.invalidateQueries({ queryKey: CHATS_KEY }),
  });
}
