export interface DiffLine {
  text: string;
  changed: boolean;
}

const MAX_CELLS = 4_000_000; // two texts of 2,000 lines; beyond it every middle line counts as changed

/** Both texts by line, each line marked when the other text does not have it in that order. */
export function diffLines(left: string, right: string): { left: DiffLine[]; right: DiffLine[] } {
  const a = left.split("\n");
  const b = right.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail += 1;
  }
  const common = commonLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const mark = (lines: string[], kept: Set<number>): DiffLine[] =>
    lines.map((text, index) => {
      const outside = index < head || index >= lines.length - tail;
      return { text, changed: !outside && !kept.has(index - head) };
    });
  return { left: mark(a, common.left), right: mark(b, common.right) };
}

/** The longest common subsequence of two lists of lines, as the indexes in each. */
function commonLines(a: string[], b: string[]) {
  const found = { left: new Set<number>(), right: new Set<number>() };
  if (a.length * b.length > MAX_CELLS) return found;
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      found.left.add(i++);
      found.right.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return found;
}
