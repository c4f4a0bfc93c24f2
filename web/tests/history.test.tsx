import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Route, Routes } from "react-router";
import { changesBetween } from "@/features/pages/changes";
import HistoryScreen from "@/features/pages/components/HistoryScreen";
import { PageMeta } from "@/features/pages/components/PageMeta";
import type { Page, PageVersion } from "@/features/pages/types";
import { FakeServer, json } from "./fakeServer";
import { show } from "./render";

const rows = (before: string, after: string) =>
  changesBetween(before, after).rows.map((row) =>
    row.kind === "gap" ? `… ${row.lines}` : `${{ same: " ", added: "+", removed: "-" }[row.kind]}${row.text}`,
  );

describe("what became of a text", () => {
  it("is told line by line, the old line before the new one", () => {
    expect(rows("a\nb\nc", "a\nx\nc\nd")).toEqual([" a", "-b", "+x", " c", "+d"]);
    const { added, removed } = changesBetween("a\nb\nc", "a\nx\nc\nd");
    expect([added, removed]).toEqual([2, 1]);
  });

  it("leaves out what is far from any change", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = [...lines.slice(0, 10), "new", ...lines.slice(10)];
    expect(rows(lines.join("\n"), after.join("\n"))).toEqual([
      "… 7", " line 7", " line 8", " line 9", "+new", " line 10", " line 11", " line 12", "… 7",
    ]);
  });

  it("begins and ends with nothing when a text is empty", () => {
    expect(rows("", "a\nb")).toEqual(["+a", "+b"]);
    expect(rows("a", "")).toEqual(["-a"]);
    expect(rows("", "")).toEqual([]);
    expect(rows("same", "same")).toEqual([" same"]);
  });

  it("gives both texts back", () => {
    const before = "# A\n\none\ntwo\n\nthree";
    const after = "# A\n\ntwo\none\n\nfour\nthree";
    const all = changesBetween(before, after).rows.filter((row) => row.kind !== "gap");
    const side = (...kinds: string[]) =>
      all.filter((row) => kinds.includes(row.kind)).map((row) => row.text).join("\n");
    expect(side("same", "removed")).toBe(before);
    expect(side("same", "added")).toBe(after);
  });
});

const ADA = { id: "u1", name: "Ada Lovelace" };
const BOB = { id: "u2", name: "Bob" };
const doc = (text: string) => ({
  type: "doc",
  content: [{ type: "paragraph", attrs: { id: "b1" }, content: [{ type: "text", text }] }],
});
const PAGE: Page = {
  id: "p1",
  slugId: "s1",
  spaceId: "sp1",
  parentPageId: null,
  title: "Leave",
  url: "/s/wiki/p/leave-s1",
  content: doc("Three."),
  version: 3,
  updatedAt: "2026-11-01T00:00:00Z",
  lastUpdatedBy: ADA,
  lastUpdatedSource: "agent",
  aiChat: { id: "c1", mine: true },
};
const VERSIONS: PageVersion[] = [
  { version: 3, title: "Leave", author: ADA, lastUpdatedSource: "agent", aiChat: { id: "c1", mine: true }, createdAt: PAGE.updatedAt },
  { version: 2, title: "Leave", author: BOB, lastUpdatedSource: "agent", aiChat: { id: null, mine: false }, createdAt: PAGE.updatedAt },
  { version: 1, title: "Holidays", author: null, lastUpdatedSource: "user", aiChat: null, createdAt: PAGE.updatedAt },
];
const TEXTS = ["One.", "One.\nTwo.", "Three.\nTwo."];

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer()
    .on("GET /v1/pages/s1", () => json(PAGE))
    .on("GET /v1/spaces", () => json({ items: [{ id: "sp1", name: "Wiki", slug: "wiki", role: "reader" }], nextCursor: null }))
    .on("GET /v1/pages/p1/history", () => json({ items: VERSIONS, nextCursor: null }));
  for (const version of VERSIONS) {
    const markdown = TEXTS[version.version - 1] ?? "";
    const body = { ...version, markdown, content: doc(markdown) };
    server.on(`GET /v1/pages/p1/history/${version.version}`, () => json(body));
  }
});

afterEach(() => server.close());

const open = (search = "") =>
  show(
    <Routes>
      <Route path="/s/:spaceSlug/p/:pageName/history" element={<HistoryScreen />} />
    </Routes>,
    `/s/wiki/p/leave-s1/history${search}`,
  );

describe("a page's history", () => {
  it("shows the newest version, and another when it is chosen", async () => {
    open();
    expect(await screen.findByText("Three. Two.")).toBeTruthy();
    screen.getByRole("link", { name: /Version 1/ }).click();
    expect(await screen.findByText("One.")).toBeTruthy();
    expect(screen.getByRole("heading", { name: "Holidays" })).toBeTruthy();
  });

  it("keeps the person as the author and puts the agent's badge beside, with a way to an own chat only", async () => {
    open();
    const list = within(await screen.findByRole("navigation", { name: /Versions/ }));
    const [first, second, third] = list.getAllByRole("listitem");
    if (!first || !second || !third) throw new Error("three versions");
    expect(within(first).getByText("Ada Lovelace")).toBeTruthy();
    expect(within(first).getByRole("link", { name: /AI agent/ }).getAttribute("href")).toBe("/chat/c1");
    expect(within(second).getByText("Bob")).toBeTruthy();
    expect(within(second).getByText(/AI agent/)).toBeTruthy();
    expect(within(second).queryByRole("link", { name: /AI agent/ })).toBeNull();
    expect(within(second).getByText(/Bob asked the agent/)).toBeTruthy();
    expect(within(third).queryByText(/AI agent/)).toBeNull();
  });

  it("compares a version with the one before, its title too", async () => {
    const { container } = open("?version=2");
    (await screen.findByRole("radio", { name: "Changes" })).click();
    await waitFor(() => expect(container.querySelector(".changes ins")?.textContent).toBe("Two."));
    expect(screen.getByText(/1 line added/)).toBeTruthy();
    expect(container.querySelector(".change-title del")?.textContent).toBe("Holidays");
    screen.getByRole("link", { name: /Version 1/ }).click();
    expect(await screen.findByText(/first version/)).toBeTruthy();
    expect(server.asked("GET /v1/pages/p1/history/0")).toEqual([]);
  });

  it("says when the version in the address is not there, and still lists the others", async () => {
    open("?version=99");
    expect(await screen.findByRole("alert")).toBeTruthy();
    expect(screen.getAllByRole("listitem")).toHaveLength(3);
  });
});

describe("the line under a page's title", () => {
  it("names the person, marks the agent and leads to the history", () => {
    show(<PageMeta page={PAGE} spaceSlug="wiki" />);
    expect(screen.getByText(/by Ada Lovelace/)).toBeTruthy();
    expect(screen.getByRole("link", { name: /AI agent/ }).getAttribute("href")).toBe("/chat/c1");
    expect(screen.getByRole("link", { name: "History" }).getAttribute("href")).toBe("/s/wiki/p/leave-s1/history");
  });

  it("has no badge when a person's own hand was the last", () => {
    show(<PageMeta page={{ ...PAGE, lastUpdatedSource: "user", aiChat: null }} spaceSlug="wiki" />);
    expect(screen.queryByText(/AI agent/)).toBeNull();
  });
});
