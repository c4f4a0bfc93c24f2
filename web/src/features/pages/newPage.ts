import { useSyncExternalStore } from "react";

export interface NewPagePlace {
  spaceId: string;
  parentPageId: string | null;
}

let place: NewPagePlace | null = null;
const listeners = new Set<() => void>();

function set(next: NewPagePlace | null): void {
  place = next;
  for (const listener of listeners) listener();
}

/** Asks for the title of a page to be made there; `NewPageDialog` shows the question. */
export const openNewPage = (where: NewPagePlace) => set(where);
export const closeNewPage = () => set(null);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useNewPagePlace(): NewPagePlace | null {
  return useSyncExternalStore(subscribe, () => place);
}
