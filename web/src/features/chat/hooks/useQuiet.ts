import { useEffect, useState } from "react";

const QUIET_MS = 3000; // longer than an ordinary pause between two words

/** While an answer comes in: nothing new of it has come for some seconds. */
export function useQuiet(answer: unknown, live: boolean): boolean {
  const [quiet, setQuiet] = useState(false);
  useEffect(() => {
    setQuiet(false);
    if (!live) return;
    const timer = window.setTimeout(() => setQuiet(true), QUIET_MS);
    return () => window.clearTimeout(timer);
  }, [answer, live]);
  return quiet;
}
