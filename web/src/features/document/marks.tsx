import { type ReactNode, createElement } from "react";
import { SafeLink } from "@/shared/ui/SafeLink";
import { textAttr } from "./attrs";
import type { DocMark } from "./types";

const TAGS: Record<string, string> = {
  bold: "strong",
  italic: "em",
  strike: "s",
  underline: "u",
  code: "code",
  highlight: "mark",
  subscript: "sub",
  superscript: "sup",
};

/** Wraps text in its marks, the first outermost. A mark that is not known changes nothing. */
export function withMarks(text: ReactNode, marks: readonly DocMark[]): ReactNode {
  return marks.reduceRight((inner, mark) => {
    if (mark.type === "link") return <SafeLink href={textAttr(mark, "href")}>{inner}</SafeLink>;
    const tag = TAGS[mark.type];
    return tag === undefined ? inner : createElement(tag, null, inner);
  }, text);
}
