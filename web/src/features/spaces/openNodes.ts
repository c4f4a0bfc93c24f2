import { useSyncExternalStore } from "react";
import { readStored, writeStored } from "@/shared/lib/storage";

const STORED = "pageturn.open-nodes";

let open: ReadonlySet<string> = new Set(readStored<string[]>(sessionStorage, STORED) ?? []);
const listeners = new Set<() => void>();

function publish(next: ReadonlySet<string>): void {
  open = next;
  writeStored(sessionStorage, STORED, [...next]);
  for (const listener of listeners) listener();
}

export function setNodeOpen(id: string, wanted: boolean): void {
  if (open.has(id) === wanted) return;
  const next = new Set(open);
  if (wanted) next.add(id);
  else next.delete(id);
  publish(next);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a space or page of the tree shows what is under it; kept for the tab's life. */
export function useNodeOpen(id: string): boolean {
  return useSyncExternalStore(subscribe, () => open.has(id));
}
