import type { useChat } from "@ai-sdk/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { mergeStored } from "../lib/stored";
import { fetchMessages, showBranch } from "../queries/chats";
import type { ChatMessage } from "../types";

export type LiveChat = ReturnType<typeof useChat<ChatMessage>>;

/**
 * The messages as the server keeps them, put in place of the shown ones whenever no answer is
 * being written: only they have the server's ids, their siblings and what hidden branches did.
 */
export function useStoredMessages(chat: LiveChat, address: () => string) {
  const latest = useRef({ chat, address });
  latest.current = { chat, address };
  // Counts what was sent: a list that was asked for earlier is out of date.
  const sends = useRef(0);

  const began = useCallback(() => {
    sends.current += 1;
  }, []);

  const fetch = useCallback(() => fetchMessages(latest.current.address()), []);

  const put = useCallback((stored: ChatMessage[]) => {
    latest.current.chat.setMessages((shown) => mergeStored(shown, stored));
  }, []);

  /** While an answer comes in: what stands above it, when that is what the server has last. */
  const refreshAbove = useCallback(async () => {
    const stored = await fetch();
    latest.current.chat.setMessages((shown) =>
      stored !== null && stored.at(-1)?.id === shown.at(-1)?.id ? mergeStored(shown, stored) : shown,
    );
  }, [fetch]);

  const refresh = useCallback(async () => {
    const asked = sends.current;
    const stored = await fetch();
    if (stored !== null && sends.current === asked) put(stored);
  }, [fetch, put]);

  const switchTo = useCallback(
    async (messageId: string) => {
      await showBranch(latest.current.address(), messageId);
      latest.current.chat.clearError();
      await refresh();
    },
    [refresh],
  );

  useEffect(() => began, [began]); // what arrives after the end is not wanted
  return useMemo(
    () => ({ began, fetch, put, refresh, refreshAbove, switchTo }),
    [began, fetch, put, refresh, refreshAbove, switchTo],
  );
}
