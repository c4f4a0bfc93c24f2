import type { PageRef } from "./types";

const MAX_SLUG_CHARS = 60;

/** The readable part of a page's address; empty for a title without letters or digits. */
export function titleSlug(title: string): string {
  const words = title.normalize("NFKC").toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...words.join("-")].slice(0, MAX_SLUG_CHARS).join("").replace(/-+$/u, "");
}

export function spacePath(spaceSlug: string): string {
  return `/s/${encodeURIComponent(spaceSlug)}`;
}

export function pagePath(spaceSlug: string, page: PageRef): string {
  if (page.url?.startsWith("/s/")) return page.url;
  const slug = titleSlug(page.title);
  const name = slug === "" ? page.slugId : `${encodeURIComponent(slug)}-${page.slugId}`;
  return `${spacePath(spaceSlug)}/p/${name}`;
}

export const historyPath = (spaceSlug: string, page: PageRef) =>
  `${pagePath(spaceSlug, page)}/history`;

/** The page's own id at the end of `{title-slug}-{slugId}`, whatever the title says by now. */
export function slugIdOf(pageName: string): string {
  return pageName.slice(pageName.lastIndexOf("-") + 1);
}

/** Percent signs decoded; text that is no valid encoding stays as it is. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
