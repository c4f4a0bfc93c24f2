import { Fragment, type ReactNode } from "react";
import { withMarks } from "./marks";
import { NODES } from "./nodes";
import type { DocNode } from "./types";

const MAX_DEPTH = 150; // the server refuses documents deeper than 100

/** A stored document as React nodes. A node type that is not known shows its content. */
export function renderDocument(node: DocNode, depth = 0): ReactNode {
  if (node.type === "text") return withMarks(node.text ?? "", node.marks ?? []);
  if (depth > MAX_DEPTH) return null;
  const children = renderChildren(node, depth);
  const renderer = NODES[node.type];
  const rendered = renderer === undefined ? children : renderer(node, children);
  return node.marks?.length ? withMarks(rendered, node.marks) : rendered;
}

function renderChildren(node: DocNode, depth: number): ReactNode {
  const content = node.content ?? [];
  if (content.length === 0) return null;
  return content.map((child, index) => (
    <Fragment key={keyOf(child, index)}>{renderDocument(child, depth + 1)}</Fragment>
  ));
}

function keyOf(node: DocNode, index: number): string {
  const id = node.attrs?.["id"];
  return typeof id === "string" ? `${index}:${id}` : String(index);
}
