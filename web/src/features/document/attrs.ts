import type { DocNode } from "./types";

/** Attributes come from stored JSON: each is read with its type checked. */
export function textAttr(node: { attrs?: DocNode["attrs"] }, name: string): string | undefined {
  const value = node.attrs?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function intAttr(node: DocNode, name: string, min: number, max: number): number | undefined {
  const value = node.attrs?.[name];
  if (typeof value !== "number" || !Number.isInteger(value)) return undefined;
  return Math.min(max, Math.max(min, value));
}

export function blockId(node: DocNode): string | undefined {
  return textAttr(node, "id");
}

export function plainText(node: DocNode): string {
  if (node.type === "hardBreak") return "\n";
  return node.text ?? (node.content ?? []).map(plainText).join("");
}

/** A document that shows nothing: no text and no block that is visible without text. */
export function isBlank(node: DocNode): boolean {
  const visible = new Set(["image", "horizontalRule", "table", "mention"]);
  if (visible.has(node.type)) return false;
  if (node.text !== undefined) return node.text.trim() === "";
  return (node.content ?? []).every(isBlank);
}
