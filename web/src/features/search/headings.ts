import type { SearchHit } from "./types";

/** The headings that a hit stands under, outermost first, without the page's own title. */
export function headingText(hit: Pick<SearchHit, "headingPath" | "title">): string {
  const path = hit.headingPath ?? [];
  const headings = typeof path === "string" ? [path] : path;
  return headings.filter((heading) => heading !== "" && heading !== hit.title).join(" › ");
}
