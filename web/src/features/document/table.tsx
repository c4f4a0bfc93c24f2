import type { ReactNode } from "react";
import { blockId, intAttr } from "./attrs";
import type { DocNode } from "./types";

const MAX_SPAN = 1000; // what browsers accept

export function renderCell(Tag: "td" | "th", node: DocNode, children: ReactNode): ReactNode {
  return (
    <Tag
      id={blockId(node)}
      colSpan={intAttr(node, "colspan", 1, MAX_SPAN)}
      rowSpan={intAttr(node, "rowspan", 1, MAX_SPAN)}
    >
      {children}
    </Tag>
  );
}
