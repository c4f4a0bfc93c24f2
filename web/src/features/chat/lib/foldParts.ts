import { getToolName, isToolUIPart } from "ai";
import type { ChatMessage } from "../types";

type Part = ChatMessage["parts"][number];
export type ToolState = "running" | "ok" | "failed" | "notRun";

export interface ToolView {
  id: string;
  name: string;
  title: string | null;
  state: ToolState;
  input: unknown;
  output: unknown;
  errorText: string | null;
}

export interface SourceView {
  id: string;
  url: string;
  title: string;
}

export type Segment =
  | { kind: "text"; key: string; text: string; live: boolean }
  | { kind: "reasoning"; key: string; text: string; live: boolean }
  | { kind: "tools"; key: string; tools: ToolView[] };

export interface FoldedMessage {
  segments: Segment[];
  sources: SourceView[];
}

/**
 * A message's parts as they are shown: calls that follow each other stand together, every
 * source once, empty texts not at all. `live` says that the message is still being written.
 */
export function foldParts(parts: readonly Part[], live: boolean): FoldedMessage {
  const segments: Segment[] = [];
  const sources = new Map<string, SourceView>();
  parts.forEach((part, index) => {
    const key = String(index);
    if (part.type === "text" || part.type === "reasoning") {
      const writing = live && part.state === "streaming";
      if (part.text === "" && !writing) return;
      segments.push({ kind: part.type, key, text: part.text, live: writing });
    } else if (part.type === "source-url") {
      if (!sources.has(part.url)) sources.set(part.url, sourceView(part));
    } else if (isToolUIPart(part)) {
      const last = segments.at(-1);
      const tool = toolView(part, live);
      if (last?.kind === "tools") last.tools.push(tool);
      else segments.push({ kind: "tools", key, tools: [tool] });
    }
  });
  return { segments, sources: [...sources.values()] };
}

function sourceView(part: Extract<Part, { type: "source-url" }>): SourceView {
  return { id: part.sourceId, url: part.url, title: part.title ?? part.url };
}

function toolView(part: Part, live: boolean): ToolView {
  if (!isToolUIPart(part)) throw new TypeError("not a tool part");
  return {
    id: part.toolCallId,
    name: getToolName(part),
    title: part.title ?? null,
    state: toolState(part.state, live),
    input: part.input,
    output: part.state === "output-available" ? part.output : undefined,
    errorText: part.state === "output-error" ? part.errorText : null,
  };
}

/** A call without an outcome in a message that has ended was never made. */
function toolState(state: string, live: boolean): ToolState {
  if (state === "output-available") return "ok";
  if (state === "output-error" || state === "output-denied") return "failed";
  return live ? "running" : "notRun";
}

/** What was said, without thoughts and calls. */
export function messageText(message: Pick<ChatMessage, "parts">): string {
  return message.parts
    .flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []))
    .join("\n\n");
}
