import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDraft } from "@/features/pages/drafts";
import type { PageMarkdown } from "@/features/pages/types";
import { useEditor } from "@/features/pages/useEditor";
import { FakeServer, json, refusal } from "./fakeServer";
import { Surroundings } from "./render";

const PAGE: PageMarkdown = {
  id: "p1",
  slugId: "s1",
  spaceId: "sp1",
  parentPageId: null,
  title: "Leave",
  markdown: "Old.",
  version: 3,
  updatedAt: "2026-11-01T00:00:00Z",
  lastUpdatedSource: "user",
};
const SAVE = "PATCH /v1/pages/p1";

let server: FakeServer;
let saved = 0;

beforeEach(() => {
  server = new FakeServer();
  saved = 0;
  localStorage.clear();
});

afterEach(() => server.close());

const open = (page: PageMarkdown = PAGE) =>
  renderHook(() => useEditor(page, () => (saved += 1)), { wrapper: Surroundings }).result;

describe("writing a page", () => {
  it("saves on the version that it began with, and forgets the draft", async () => {
    server.on(SAVE, () => json({ ...PAGE, version: 4 }));
    const editor = open();
    act(() => editor.current.setMarkdown("New."));
    await waitFor(() => expect(readDraft("p1")?.markdown).toBe("New."));
    act(() => editor.current.submit());
    await waitFor(() => expect(saved).toBe(1));
    expect(server.asked(SAVE)[0]?.body).toEqual({ title: "Leave", markdown: "New.", baseVersion: 3 });
    expect(readDraft("p1")).toBeNull();
  });

  it("loses neither text when somebody else saved first", async () => {
    server.on(SAVE, ({ body }) => {
      const stale = (body as { baseVersion: number }).baseVersion < 4;
      return stale ? refusal(409, "conflict") : json({ ...PAGE, version: 5 });
    });
    server.on("GET /v1/pages/p1", () => json({ ...PAGE, markdown: "Theirs.", version: 4 }));
    const editor = open();
    act(() => editor.current.setMarkdown("Mine."));
    act(() => editor.current.submit());
    await waitFor(() => expect(editor.current.conflict?.markdown).toBe("Theirs."));
    expect(editor.current.markdown).toBe("Mine.");
    expect(editor.current.failure).toBeNull();
    expect(saved).toBe(0);
    const theirs = editor.current.conflict;
    if (theirs === null) throw new Error("no conflict");
    act(() => editor.current.submitOver(theirs));
    await waitFor(() => expect(saved).toBe(1));
    expect(server.asked(SAVE).at(-1)?.body).toMatchObject({ markdown: "Mine.", baseVersion: 4 });
  });

  it("keeps the text when the save fails, and says why", async () => {
    server.on(SAVE, () => refusal(422, "invalid_input"));
    const editor = open();
    act(() => editor.current.setTitle("Other"));
    act(() => editor.current.submit());
    await waitFor(() => expect(editor.current.failure?.message).toBe("Words."));
    expect(editor.current.title).toBe("Other");
  });

  it("brings an unsaved text back, and says when the page has moved on", async () => {
    const first = open();
    act(() => first.current.setMarkdown("Unsaved."));
    await waitFor(() => expect(readDraft("p1")?.markdown).toBe("Unsaved."));
    const again = open({ ...PAGE, version: 9, markdown: "Newer." });
    expect(again.current.markdown).toBe("Unsaved.");
    expect(again.current.draftStale).toBe(true);
    act(() => again.current.discardDraft());
    expect(again.current.markdown).toBe("Newer.");
    expect(readDraft("p1")).toBeNull();
  });
});
