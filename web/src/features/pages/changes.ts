import { diffLines } from "@/shared/lib/diffLines";

export type ChangeRow =
  | { kind: "same" | "added" | "removed"; text: string }
  | { kind: "gap"; lines: number };

export interface Changes {
  rows: ChangeRow[];
  added: number;
  removed: number;
}

const CONTEXT = 3; // unchanged lines that stay around a change

/** What became of a text, line by line; long unchanged stretches are only counted. */
export function changesBetween(before: string, after: string): Changes {
  const rows = allRows(before, after);
  const count = (kind: ChangeRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return { rows: fold(rows), added: count("added"), removed: count("removed") };
}

function allRows(before: string, after: string): ChangeRow[] {
  const sides = diffLines(before, after);
  // An empty text has no lines at all.
  const left = before === "" ? [] : sides.left;
  const right = after === "" ? [] : sides.right;
  const rows: ChangeRow[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const old = left[i];
    const fresh = right[j];
    if (old !== undefined && (old.changed || fresh === undefined)) {
      rows.push({ kind: "removed", text: old.text });
      i += 1;
    } else if (fresh !== undefined && (fresh.changed || old === undefined)) {
      rows.push({ kind: "added", text: fresh.text });
      j += 1;
    } else if (fresh !== undefined) {
      rows.push({ kind: "same", text: fresh.text });
      i += 1;
      j += 1;
    }
  }
  return rows;
}

function fold(rows: ChangeRow[]): ChangeRow[] {
  const near = new Set<number>();
  rows.forEach((row, index) => {
    if (row.kind === "same") return;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  });
  const folded: ChangeRow[] = [];
  let far: ChangeRow[] = [];
  const close = () => {
    // A single line takes no more room than its count.
    folded.push(...(far.length > 1 ? [{ kind: "gap" as const, lines: far.length }] : far));
    far = [];
  };
  for (const [index, row] of rows.entries()) {
    if (near.has(index)) {
      close();
      folded.push(row);
    } else far.push(row);
  }
  close();
  return folded;
}
