/**
 * Cuts Markdown into pieces that render alone: at blank lines between top-level blocks. While
 * text streams in only the last piece changes, so that the others need not be parsed again.
 */
export function markdownBlocks(text: string): string[] {
  // A reference may be used in any block.
  if (/^ {0,3}\[[^\]]+\]:/m.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  let afterBlank = false;
  for (const line of text.split("\n")) {
    if (fence === null && afterBlank && startsBlock(line, lines[0] ?? "")) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
    fence = nextFence(line, fence);
    afterBlank = fence === null && line.trim() === "";
    // Blank lines before a block belong to nothing.
    if (lines.length > 0 || !afterBlank) lines.push(line);
  }
  if (lines.length > 0) blocks.push(lines.join("\n"));
  return blocks;
}

const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

/** Whether a line after a blank one begins a new block, and is not more of a list. */
function startsBlock(line: string, first: string): boolean {
  if (line.trim() === "" || /^\s/.test(line)) return false;
  return !(LIST_ITEM.test(first) && LIST_ITEM.test(line));
}

function nextFence(line: string, open: string | null): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (mark === null) return open;
  const [, ticks = "", rest = ""] = mark;
  if (open === null) return ticks.startsWith("`") && rest.includes("`") ? null : ticks;
  const closes = ticks[0] === open[0] && ticks.length >= open.length && rest.trim() === "";
  return closes ? null : open;
}
