import type { ReactNode } from "react";
import { blockId, intAttr, textAttr } from "./attrs";
import type { DocNode } from "./types";

const MAX_SPAN = 1000; // what browsers accept

const ALIGN: Record<string, "left" | "center" | "right"> = {
  left: "left",
  center: "center",
  right: "right",
};

export function renderCell(Tag: "td" | "th", node: DocNode, children: ReactNode): ReactNode {
  const align = ALIGN[textAttr(node, "align") ?? textAttr(node, "textAlign") ?? ""];
  return (
    <Tag
      id={blockId(node)}
      colSpan={intAttr(node, "colspan", 1, MAX_SPAN)}
      rowSpan={intAttr(node, "rowspan", 1, MAX_SPAN)}
      style={align ? { textAlign: align } : undefined}
    >
      {children}
    </Tag>
  );
}
