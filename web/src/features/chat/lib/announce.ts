const MARKUP = /[*_`#>|]+|\[([^\]]*)\]\([^)]*\)/g;

/**
 * The next whole sentences of a growing text for a screen reader, with all that has been read
 * out then. Empty while no sentence has ended. What was read out may have been withdrawn, and is
 * being said in other words; or it comes in once more.
 */
export function nextAnnouncement(
  text: string,
  spoken: string,
  complete: boolean,
): { say: string; spoken: string } {
  if (spoken.startsWith(text)) return { say: "", spoken };
  const from = text.startsWith(spoken) ? spoken.length : 0;
  const rest = text.slice(from);
  const end = complete ? rest.length : sentenceEnd(rest);
  if (end === 0) return { say: "", spoken };
  const say = rest.slice(0, end).replace(MARKUP, "$1").replace(/\s+/g, " ").trim();
  return { say, spoken: text.slice(0, from + end) };
}

function sentenceEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(/[.!?…。！？](?=\s)|\n/gu)) end = match.index + match[0].length;
  return end;
}
