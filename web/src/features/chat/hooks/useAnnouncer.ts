import { useEffect, useRef, useState } from "react";
import { nextAnnouncement } from "../lib/announce";

const EVERY_MS = 3000; // often enough to follow, seldom enough to be listened to

/** What a screen reader should say of an answer: whole sentences, a few seconds apart. */
export function useAnnouncer(text: string, live: boolean, done: string): string {
  const [say, setSay] = useState("");
  const spoken = useRef("");
  const latest = useRef(text);
  latest.current = text;

  useEffect(() => {
    if (!live) return;
    spoken.current = "";
    const speak = (complete: boolean) => {
      const next = nextAnnouncement(latest.current, spoken.current, complete);
      spoken.current = next.spoken;
      if (complete) setSay(`${next.say} ${done}`);
      else if (next.say !== "") setSay(next.say);
    };
    const timer = window.setInterval(() => speak(false), EVERY_MS);
    return () => {
      window.clearInterval(timer);
      speak(true);
    };
  }, [live, done]);
  return say;
}
