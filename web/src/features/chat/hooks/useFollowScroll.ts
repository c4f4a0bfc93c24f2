import { useCallback, useEffect, useRef, useState } from "react";

const NEAR_END_PX = 48;

/**
 * Keeps the end of a growing list in view until the reader scrolls up, and again once the
 * reader has come back to the end.
 */
export function useFollowScroll() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const lastTop = useRef(0);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    following.current = true;
    setAtEnd(true);
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  /** What is read now stays where it is, whatever changes below it. */
  const hold = useCallback(() => {
    following.current = false;
  }, []);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const near = isNearEnd(element);
    // Text that grows moves the end away without a scroll: only moving up lets go.
    if (near) following.current = true;
    else if (element.scrollTop < lastTop.current) following.current = false;
    lastTop.current = element.scrollTop;
    setAtEnd(following.current);
  }, []);

  useEffect(() => {
    const element = content.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (!box.current) return;
      if (following.current) box.current.scrollTop = box.current.scrollHeight;
      else setAtEnd(isNearEnd(box.current));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return { box, content, onScroll, atEnd, toEnd, hold };
}

export type FollowScroll = ReturnType<typeof useFollowScroll>;

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean =>
  scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
