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

export function useRenameChat() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, title }: { id: string; title: string }) =>
      api.patch<ChatSummary>(chatUrl(id), { title }),
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
