import { readStored, writeStored } from "@/shared/lib/storage";

/** Text that was written and not saved yet, kept over a closed tab. */
export interface Draft {
  title: string;
  markdown: string;
  baseVersion: number;
  savedAt: string;
}

const key = (pageId: string) => `pageturn.draft.${pageId}`;

export const readDraft = (pageId: string) => readStored<Draft>(localStorage, key(pageId));

export const writeDraft = (pageId: string, draft: Draft | null) =>
  writeStored(localStorage, key(pageId), draft);
