import { memo } from "react";
import { renderDocument } from "../render";
import type { DocNode } from "../types";

export const DocumentView = memo(function DocumentView({ content }: { content: DocNode }) {
  return <div className="prose">{renderDocument(content)}</div>;
});
