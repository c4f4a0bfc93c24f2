import type { ElementContent, RootContent } from "hast";

export interface Token {
  className: string | null;
  text: string;
}

/** Longer code stays plain: colouring it would block the page. */
export const MAX_HIGHLIGHT_CHARS = 20_000;

/** Colours code into flat tokens; null when the language is unknown. Loads the grammars once. */
export async function highlight(code: string, language: string): Promise<Token[] | null> {
  const lowlight = await grammars();
  if (!lowlight.registered(language)) return null;
  return flatten(lowlight.highlight(language, code).children, null);
}

let loading: ReturnType<typeof load> | undefined;

async function load() {
  const { common, createLowlight } = await import("lowlight");
  return createLowlight(common);
}

function grammars() {
  loading ??= load();
  return loading;
}

export function flatten(
  nodes: (RootContent | ElementContent)[],
  className: string | null,
): Token[] {
  return nodes.flatMap((node): Token[] => {
    if (node.type === "text") return [{ className, text: node.value }];
    if (node.type !== "element") return [];
    const own = node.properties["className"];
    return flatten(node.children, Array.isArray(own) ? own.join(" ") : className);
  });
}
