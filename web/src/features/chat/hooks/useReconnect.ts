import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { RECONNECT_ATTEMPTS, backoff } from "../lib/backoff";
import { onReturn } from "../lib/onReturn";
import type { Request } from "./useSending";
import type { LiveChat, useStoredMessages } from "./useStoredMessages";

/** How the last request of the chat ended; `none` after a resume that found nothing running. */
export interface Ending {
  kind: "none" | "finished" | "interrupted" | "aborted" | "error";
  /** The HTTP status of a refused request. */
  status: number | null;
}

/** `unsent`: the server is there again and never had the last message. */
export type Connection = "live" | "reconnecting" | "lost" | "unsent";

const STALE_CHECK_MS = 1500;
const WAKE = "wake";
const STABLE_MS = 10_000; // a stream that held this long starts the attempts anew

interface Options {
  chat: LiveChat;
  ending: RefObject<Ending>;
  /** What was asked last in this browser. */
  last: RefObject<Request | null>;
  stored: ReturnType<typeof useStoredMessages>;
  /** Sends what never arrived; false where that was tried before. */
  resend: () => boolean;
}

/**
 * After a stream that broke off: resumes with growing pauses, and reads the stored messages
 * when the turn has ended meanwhile. `start` while it does so ends the pause.
 */
export function useReconnect({ chat, ending, last, stored, resend }: Options) {
  const [state, setState] = useState<Connection>("live");
  const loop = useRef<AbortController | null>(null);
  const [wake] = useState(() => new EventTarget());
  const latest = useRef(chat);
  latest.current = chat;

  const cancel = useCallback(() => {
    loop.current?.abort();
    loop.current = null;
    setState("live");
  }, []);

  const reload = useCallback(async (): Promise<Connection> => {
    const messages = await stored.fetch();
    if (messages === null) return "unsent";
    const arrived = last.current?.arrived(messages) ?? true;
    // A message that never arrived stays to be sent again; nothing else is lost.
    if (arrived || last.current?.before) stored.put(messages);
    return arrived ? "live" : "unsent";
  }, [last, stored]);

  /** One resume; null when another attempt is worth it. */
  const attempt = useCallback(async (): Promise<Connection | null> => {
    ending.current = { kind: "none", status: null };
    await latest.current.resumeStream();
    // Written by the chat's callbacks while the line above waited.
    const { kind, status } = ending.current;
    if (kind === "none" || status === 404) {
      const found = await reload();
      latest.current.clearError();
      return found;
    }
    if (kind === "error") return status !== null && status < 500 ? "live" : null;
    return kind === "interrupted" ? null : "live";
  }, [ending, reload]);

  const start = useCallback(() => {
    setState("reconnecting");
    if (loop.current !== null) {
      wake.dispatchEvent(new Event(WAKE));
      return;
    }
    const mine = new AbortController();
    loop.current = mine;
    const onTry = (turn: number) => {
      if (turn >= RECONNECT_ATTEMPTS && !mine.signal.aborted) setState("lost");
    };
    void repeat(attempt, { signal: mine.signal, wake, onTry }).then((outcome) => {
      if (mine.signal.aborted) return;
      loop.current = null;
      setState(outcome === "unsent" && resend() ? "live" : outcome);
    });
  }, [attempt, resend, wake]);

  useEffect(() => () => loop.current?.abort(), []);
  useStaleRefresh(chat, reload);
  return useMemo(() => ({ state, start, cancel }), [state, start, cancel]);
}

interface Watch {
  signal: AbortSignal;
  wake: EventTarget;
  onTry: (turn: number) => void;
}

/** Until it is told to stop: what is lost today may be there again in an hour. */
async function repeat(
  attempt: () => Promise<Connection | null>,
  { signal, wake, onTry }: Watch,
): Promise<Connection> {
  for (let turn = 0; ; turn += 1) {
    onTry(turn);
    await pause(backoff(turn), wake);
    if (signal.aborted) return "lost";
    const began = Date.now();
    const outcome = await attempt().catch(() => null);
    if (outcome !== null) return outcome;
    if (Date.now() - began > STABLE_MS) turn = -1;
  }
}

/** A stored answer that was still being written, with nothing to resume, is read again. */
function useStaleRefresh(chat: Options["chat"], reload: () => Promise<unknown>): void {
  const last = chat.messages.at(-1);
  const idle = chat.status === "ready" || chat.status === "error";
  const stale = idle && last?.metadata?.status === "streaming";
  useEffect(() => {
    if (!stale) return;
    const timer = window.setInterval(() => void reload().catch(() => {}), STALE_CHECK_MS);
    return () => window.clearInterval(timer);
  }, [stale, reload]);
}

/** Shorter when it is woken, and when the browser is online or looked at again. */
function pause(ms: number, wake: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      window.clearTimeout(timer);
      wake.removeEventListener(WAKE, done);
      unwatch();
      resolve();
    };
    const timer = window.setTimeout(done, ms);
    wake.addEventListener(WAKE, done);
    const unwatch = onReturn(done);
  });
}
