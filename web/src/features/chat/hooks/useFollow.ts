import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Ending } from "./useReconnect";
import type { LiveChat, useStoredMessages } from "./useStoredMessages";

interface Options {
  chat: LiveChat;
  ending: RefObject<Ending>;
  stored: ReturnType<typeof useStoredMessages>;
  /** Goes on trying, with growing pauses. */
  reconnect: () => void;
}

/**
 * Shows what was asked and said meanwhile, and goes on with the answer that is being written: as
 * soon as the one that comes in here has ended.
 */
export function useFollow({ chat, ending, stored, reconnect }: Options): () => void {
  const [wanted, setWanted] = useState(false);
  const going = useRef(false);
  const latest = useRef({ chat, reconnect });
  latest.current = { chat, reconnect };
  const busy = isBusy(chat);

  const go = useCallback(async () => {
    going.current = true;
    await stored.refresh().finally(() => {
      going.current = false;
    });
    if (isBusy(latest.current.chat)) return;
    stored.began();
    ending.current = { kind: "none", status: null };
    await latest.current.chat.resumeStream();
    // Written by the chat's callbacks while the line above waited.
    const { kind, status } = ending.current;
    if (kind === "error" && (status === null || status >= 500)) latest.current.reconnect();
  }, [ending, stored]);

  useEffect(() => {
    if (!wanted || busy || going.current) return;
    setWanted(false);
    void go().catch(() => latest.current.reconnect());
  }, [wanted, busy, go]);
  return useCallback(() => setWanted(true), []);
}

const isBusy = ({ status }: LiveChat) => status === "submitted" || status === "streaming";
