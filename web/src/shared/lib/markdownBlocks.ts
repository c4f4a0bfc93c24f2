const LONG_LIST_LINES = 60; // parsed within a few milliseconds

/**
 * Cuts Markdown into pieces that render alone: at blank lines between top-level blocks, and
 * within long lists. While text streams in only the last piece changes, so that the others need
 * not be parsed again. A piece that refers to a link defined elsewhere carries the definition.
 */
export function markdownBlocks(text: string): string[] {
  const definitions = readDefinitions(text);
  if (definitions === null) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  let afterBlank = false;
  for (const line of text.split("\n")) {
    if (fence === null && (afterBlank ? startsBlock(line, lines[0] ?? "") : endsPiece(line, lines))) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
    fence = nextFence(line, fence);
    afterBlank = fence === null && line.trim() === "";
    // Blank lines before a block belong to nothing.
    if (lines.length > 0 || !afterBlank) lines.push(line);
  }
  // What follows an open fence would become code.
  const open = fence === null ? [] : [lines.join("\n")];
  if (fence === null && lines.length > 0) blocks.push(lines.join("\n"));
  return [...blocks.map((block) => withDefinitions(block, definitions)), ...open];
}

const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

/** Whether a line after a blank one begins a new block, and is not more of a list. */
function startsBlock(line: string, first: string): boolean {
  if (line.trim() === "" || /^\s/.test(line)) return false;
  return !(LIST_ITEM.test(first) && LIST_ITEM.test(line));
}

const OUTER_ITEM = /^(?:([-*+])|(\d{1,9})([.)]))\s/;

/** Whether a list has become long and a line is its next outer item: a second one begins there. */
function endsPiece(line: string, lines: string[]): boolean {
  if (lines.length < LONG_LIST_LINES) return false;
  const [, bullet, number, mark] = OUTER_ITEM.exec(line) ?? [];
  const [, firstBullet, , firstMark] = OUTER_ITEM.exec(lines[0] ?? "") ?? [];
  if (bullet !== undefined) return bullet === firstBullet;
  if (number === undefined || mark !== firstMark) return false;
  // A list counts by itself, whatever its numbers say: it can be cut only where they agree.
  const numbers = lines.flatMap((item) => OUTER_ITEM.exec(item)?.[2] ?? []);
  return [...numbers, number].every((found, index) => Number(found) === Number(numbers[0]) + index);
}

function nextFence(line: string, open: string | null): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (mark === null) return open;
  const [, ticks = "", rest = ""] = mark;
  if (open === null) return ticks.startsWith("`") && rest.includes("`") ? null : ticks;
  const closes = ticks[0] === open[0] && ticks.length >= open.length && rest.trim() === "";
  return closes ? null : open;
}

interface Definition {
  /** As it stands where it is used: `[label]`. */
  use: string;
  line: string;
}

/** The links that are defined by a line of their own; null where only the whole text will do. */
function readDefinitions(text: string): Definition[] | null {
  const definitions: Definition[] = [];
  for (const [line, label = "", target = ""] of text.matchAll(/^ {0,3}\[([^\]]+)\]:(.*)$/gm)) {
    // Footnotes stand below the whole, and a target on the next line is seldom.
    if (label.startsWith("^") || target.trim() === "") return null;
    definitions.push({ use: `[${label.toLowerCase()}]`, line });
  }
  return definitions;
}

function withDefinitions(block: string, definitions: Definition[]): string {
  if (definitions.length === 0 || !block.includes("[")) return block;
  const words = block.toLowerCase();
  const used = definitions.filter(({ use, line }) => words.includes(use) && !block.includes(line));
  return used.length === 0 ? block : [block, "", ...used.map(({ line }) => line)].join("\n");
}
