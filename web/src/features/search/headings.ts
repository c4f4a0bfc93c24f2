import type { SearchHit } from "./types";

/** The headings that a hit stands under, outermost first, without the page's own title. */
export function headingText({ headingPath, title }: Pick<SearchHit, "headingPath" | "title">): string {
  return headingPath.filter((heading) => heading !== "" && heading !== title).join(" › ");
}
