export type Link =
  | { kind: "internal"; to: string }
  | { kind: "hash"; hash: string }
  | { kind: "external"; href: string; host: string }
  | { kind: "mail"; href: string }
  | { kind: "unsafe" };

const MAX_LINK_CHARS = 2048;

/**
 * What a link in someone's text may become. Only http, https, mailto and tel leave the app;
 * anything else, and a path that leads nowhere in the app, is not a link.
 */
export function classifyLink(href: string | null | undefined, origin: string): Link {
  const text = (href ?? "").trim();
  if (text === "" || text.length > MAX_LINK_CHARS) return { kind: "unsafe" };
  if (text.startsWith("#")) return { kind: "hash", hash: text };
  const isPath = text.startsWith("/") && !/^\/[/\\]/.test(text);
  if (!isPath && !/^[a-z][a-z0-9+.-]*:/i.test(text)) return { kind: "unsafe" };

  const url = parse(text, origin);
  if (url === null) return { kind: "unsafe" };
  if (url.protocol === "mailto:" || url.protocol === "tel:") {
    return { kind: "mail", href: url.href };
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return { kind: "unsafe" };
  if (url.origin === origin) {
    return { kind: "internal", to: url.pathname + url.search + url.hash };
  }
  return { kind: "external", href: url.href, host: url.host };
}

const API = "/v1/";
const ATTACHMENTS = "/v1/attachments/";

/**
 * The path of an image on our own origin; null for every other, which is never fetched. Of the
 * API only attachments are images: no text may make its reader call anything else.
 */
export function ownImage(src: string | null | undefined, origin: string): string | null {
  const link = classifyLink(src, origin);
  if (link.kind !== "internal") return null;
  const isCall = decoded(link.to).startsWith(API);
  return isCall && !link.to.startsWith(ATTACHMENTS) ? null : link.to;
}

/** The path as a server reads it. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function parse(text: string, base: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
