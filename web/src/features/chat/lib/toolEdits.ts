import type { ToolView } from "./foldParts";
import { record } from "./tools";

export interface AppliedEdit {
  find: string;
  /** Null when the call does not say. */
  replace: string | null;
  replacements: number;
}

export interface FailedEdit {
  find: string;
  reason: string;
}

export interface ToolEdits {
  applied: AppliedEdit[];
  failed: FailedEdit[];
  /** The page is as it was: no edit made a difference. */
  unchanged: boolean;
}

const EDITORS = new Set(["editPageText", "updatePageContent"]);

/** What an editing call did, piece by piece; null for any other call and for one without result. */
export function toolEdits({ name, input, output }: ToolView): ToolEdits | null {
  const result = record(output);
  if (!EDITORS.has(name) || result === null) return null;
  const asked = records(record(input)?.["edits"]);
  const applied = records(result["applied"]).flatMap((edit): AppliedEdit[] => {
    const find = edit["find"];
    if (typeof find !== "string") return [];
    const replace = asked.find((entry) => entry["find"] === find)?.["replace"];
    const count = edit["replacements"];
    return [
      {
        find,
        replace: typeof replace === "string" ? replace : null,
        replacements: typeof count === "number" ? count : 1,
      },
    ];
  });
  const failed = records(result["failed"]).map(({ find, reason }) => ({
    find: typeof find === "string" ? find : "",
    reason: typeof reason === "string" ? reason : "",
  }));
  return { applied, failed, unchanged: result["changed"] === false };
}

function records(value: unknown): Record<string, unknown>[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.map(record).filter((entry) => entry !== null);
}
