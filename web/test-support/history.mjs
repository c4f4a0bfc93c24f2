// What a page was before: every save leaves the version that it replaced.
import { refuse } from "./refusals.mjs";

const AUTHOR = { id: "u1", name: "Ada Lovelace" };
const HOUR_MS = 3_600_000;
const replaced = new Map();

/** Keeps the page as it is now. */
export function remember(page) {
  replaced.set(page.id, [...(replaced.get(page.id) ?? []), entryOf(page)]);
}

const entryOf = ({ version, title, content, markdown, updatedAt, lastUpdatedSource, lastUpdatedAiChatId }) => ({
  version, title, author: AUTHOR, lastUpdatedSource,
  aiChat: lastUpdatedSource === "agent" ? { id: lastUpdatedAiChatId, mine: lastUpdatedAiChatId !== null } : null,
  createdAt: updatedAt, content, markdown,
});

/** The versions before the first one that was remembered: invented, so that there is something to look at. */
function older(page, first) {
  return Array.from({ length: first.version - 1 }, (_, index) => ({
    ...first,
    version: index + 1,
    title: index === 0 ? `${page.title} (draft)` : page.title,
    markdown: first.markdown.split("\n").slice(0, (index + 1) * 3).join("\n"),
    content: { ...first.content, content: first.content.content.slice(0, (index + 1) * 2) },
    lastUpdatedSource: index === 1 ? "agent" : "user",
    aiChat: index === 1 ? { id: null, mine: false } : null,
    createdAt: new Date(Date.parse(first.createdAt) - (first.version - index) * HOUR_MS).toISOString(),
  }));
}

function versionsOf(page) {
  const kept = [...(replaced.get(page.id) ?? []), entryOf(page)];
  return [...older(page, kept[0]), ...kept].toReversed();
}

export function historyOf(page) {
  const items = versionsOf(page).map((entry) => ({ ...entry, content: undefined, markdown: undefined }));
  return { items, nextCursor: null };
}

export function versionOf(page, version) {
  return versionsOf(page).find((entry) => entry.version === Number(version))
    ?? refuse(404, "version_not_found", "The page has no such version.");
}
