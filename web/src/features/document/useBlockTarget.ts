import { useEffect } from "react";
import { useLocation } from "react-router";

const HIGHLIGHT_MS = 2500;

/**
 * Scrolls to the block that the address names and lights it up for a moment, each time the
 * address is followed; `ready` says that the document is on the screen.
 */
export function useBlockTarget(ready: boolean): void {
  const { hash, key } = useLocation();
  useEffect(() => {
    if (!ready || hash.length < 2) return;
    const block = document.getElementById(decodeHash(hash));
    if (block === null) return;
    block.scrollIntoView({ block: "center" });
    block.classList.add("block-target");
    const timer = window.setTimeout(() => block.classList.remove("block-target"), HIGHLIGHT_MS);
    return () => {
      window.clearTimeout(timer);
      block.classList.remove("block-target");
    };
  }, [ready, hash, key]);
}

function decodeHash(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}
