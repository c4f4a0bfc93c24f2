const MARKUP = /[*_`#>|]+|\[([^\]]*)\]\([^)]*\)/g;

/**
 * The next whole sentences of a growing text for a screen reader, with the length of what has
 * been read out then. Empty while no sentence has ended.
 */
export function nextAnnouncement(
  text: string,
  spoken: number,
  complete: boolean,
): { say: string; spoken: number } {
  const rest = text.slice(spoken);
  const end = complete ? rest.length : sentenceEnd(rest);
  if (end === 0) return { say: "", spoken };
  const say = rest.slice(0, end).replace(MARKUP, "$1").replace(/\s+/g, " ").trim();
  return { say, spoken: spoken + end };
}

function sentenceEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(/[.!?…。！？](?=\s)|\n/gu)) end = match.index + match[0].length;
  return end;
}
