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

export function pagePath(spaceSlug: string, page: PageRef, blockId?: string): string {
  const slug = titleSlug(page.title);
  const name = slug === "" ? page.slugId : `${encodeURIComponent(slug)}-${page.slugId}`;
  const hash = blockId ? `#${encodeURIComponent(blockId)}` : "";
  return `${spacePath(spaceSlug)}/p/${name}${hash}`;
}

/** The page's own id at the end of `{title-slug}-{slugId}`, whatever the title says by now. */
export function slugIdOf(pageName: string): string {
  return pageName.slice(pageName.lastIndexOf("-") + 1);
}

export interface PageAddress {
  spaceSlug: string;
  slugId: string;
  blockId: string | null;
}

/** Reads `/s/{space}/p/{title}-{slugId}#{block}`; null for any other address. */
export function parsePageUrl(url: string): PageAddress | null {
  const match = /^\/s\/([^/?#]+)\/p\/([^/?#]+)(?:\?[^#]*)?(?:#(.*))?$/u.exec(url);
  if (match === null) return null;
  const [, space = "", name = "", block = ""] = match;
  const slugId = slugIdOf(decode(name));
  if (slugId === "") return null;
  return { spaceSlug: decode(space), slugId, blockId: block === "" ? null : decode(block) };
}

export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
