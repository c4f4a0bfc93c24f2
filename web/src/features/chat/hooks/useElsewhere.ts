import { useEffect, useRef } from "react";
import { useChatChanges } from "../queries/chats";

/** Calls `follow` when this chat, at rest here, was changed in another window or device. */
export function useElsewhere(chatId: string | null, idle: boolean, follow: () => void): void {
  const { changedAt, readAt } = useChatChanges(chatId, idle);
  const ended = useRef(0);
  const known = useRef<string | null>(null);
  useEffect(() => {
    if (idle) return;
    return () => {
      ended.current = Date.now();
      known.current = null;
    };
  }, [idle]);
  useEffect(() => {
    // What was read earlier does not know how the answer here has ended.
    if (!idle || changedAt === null || readAt < ended.current) return;
    const before = known.current;
    known.current = changedAt;
    if (before !== null && before !== changedAt) follow();
  }, [idle, changedAt, readAt, follow]);
}
