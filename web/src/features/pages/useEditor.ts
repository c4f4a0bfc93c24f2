import { useEffect, useRef, useState } from "react";
import { isStatus } from "@/shared/api/errors";
import { readDraft, writeDraft } from "./drafts";
import { fetchMarkdown, useSavePage } from "./queries/pages";
import type { PageMarkdown } from "./types";

const DRAFT_DELAY_MS = 400;

/**
 * The text being written. Every change is kept in the browser until it is saved, and a save
 * that meets a newer version keeps both texts (`conflict` is the saved one).
 */
export function useEditor(page: PageMarkdown, onSaved: () => void) {
  const [found] = useState(() => readDraft(page.id));
  const [draft, setDraft] = useState(found);
  const [title, setTitle] = useState(found?.title ?? page.title);
  const [markdown, setMarkdown] = useState(found?.markdown ?? page.markdown);
  const [base, setBase] = useState(found?.baseVersion ?? page.version);
  const [conflict, setConflict] = useState<PageMarkdown | null>(null);
  const save = useSavePage(page.id);
  const dirty = title !== page.title || markdown !== page.markdown;
  useDraft(page.id, dirty, { title, markdown, baseVersion: base });

  async function submit(baseVersion: number) {
    try {
      await save.mutateAsync({ title, markdown, baseVersion });
    } catch (error) {
      if (isStatus(error, 409)) setConflict(await fetchMarkdown(page.id));
      return;
    }
    writeDraft(page.id, null);
    onSaved();
  }

  function start(from: PageMarkdown) {
    setTitle(from.title);
    setMarkdown(from.markdown);
    setBase(from.version);
    setConflict(null);
    setDraft(null);
    save.reset();
    writeDraft(page.id, null);
  }

  const failure = isStatus(save.error, 409) ? null : save.error;
  return {
    title,
    setTitle,
    markdown,
    setMarkdown,
    dirty,
    draft,
    draftStale: draft !== null && draft.baseVersion !== page.version,
    conflict,
    failure,
    saving: save.isPending,
    submit: () => void submit(base),
    submitOver: (theirs: PageMarkdown) => void submit(theirs.version),
    discardDraft: () => start(page),
    takeTheirs: start,
  };
}

interface Text {
  title: string;
  markdown: string;
  baseVersion: number;
}

function useDraft(pageId: string, dirty: boolean, { title, markdown, baseVersion }: Text) {
  const pending = useRef<(() => void) | null>(null);
  useEffect(() => {
    if (!dirty) return;
    const write = () => {
      pending.current = null;
      const savedAt = new Date().toISOString();
      writeDraft(pageId, { title, markdown, baseVersion, savedAt });
    };
    pending.current = write;
    const timer = window.setTimeout(write, DRAFT_DELAY_MS);
    return () => window.clearTimeout(timer);
  }, [pageId, dirty, title, markdown, baseVersion]);
  useEffect(() => {
    const flush = () => pending.current?.();
    window.addEventListener("pagehide", flush);
    return () => window.removeEventListener("pagehide", flush);
  }, []);
}
