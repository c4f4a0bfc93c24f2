export interface DocMark {
  type: string;
  attrs?: Record<string, unknown> | null;
}

/** A node of the stored document (ProseMirror JSON). A block's own id is `attrs.id`. */
export interface DocNode {
  type: string;
  attrs?: Record<string, unknown> | null;
  content?: DocNode[] | null;
  marks?: DocMark[] | null;
  text?: string;
}
