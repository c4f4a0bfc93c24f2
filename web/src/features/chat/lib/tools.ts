import { classifyLink } from "@/shared/lib/links";

const MAX_HINT_CHARS = 60;

/** The page that a tool's result is about, when it names one. */
export function pageOfOutput(output: unknown, origin: string): { to: string; title: string } | null {
  const own = record(output);
  const page = record(own?.["page"]) ?? own;
  const url = page?.["url"];
  if (typeof url !== "string") return null;
  const link = classifyLink(url, origin);
  if (link.kind !== "internal") return null;
  const title = page?.["title"];
  return { to: link.to, title: typeof title === "string" && title !== "" ? title : link.to };
}

/** Where the versions of a page are, from the page's own address; null for one from elsewhere. */
export function historyPath(url: string, origin: string): string | null {
  const link = classifyLink(url, origin);
  if (link.kind !== "internal") return null;
  return `${link.to.replace(/[?#].*$/, "").replace(/\/$/, "")}/history`;
}

/** The one argument that says most about a call, cut short; ids say nothing to a reader. */
export function argumentHint(input: unknown, output: unknown, origin: string): string {
  const args = record(input) ?? {};
  const spoken = args["query"] ?? args["title"];
  if (typeof spoken === "string") return shorten(spoken);
  return shorten(pageOfOutput(output, origin)?.title ?? "");
}

function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= MAX_HINT_CHARS) return text;
  return `${characters.slice(0, MAX_HINT_CHARS - 1).join("")}…`;
}

/** `someToolName` → `Some tool name`, for a tool that has no words of its own. */
export function spokenName(name: string): string {
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const WRITES = new Set(["createPage", "editPageText", "updatePageContent"]);

export const isWrite = (name: string): boolean => WRITES.has(name);

/** A JSON object, or null for any other value. */
export function record(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
