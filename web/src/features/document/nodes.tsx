import type { ReactNode } from "react";
import { CodeBlock } from "@/shared/ui/CodeBlock";
import { SafeImage } from "@/shared/ui/SafeImage";
import { blockId, intAttr, plainText, textAttr } from "./attrs";
import { Callout } from "./components/Callout";
import { Mention } from "./components/Mention";
import { TaskItem } from "./components/TaskItem";
import { renderCell } from "./table";
import type { DocNode } from "./types";

export type Renderer = (node: DocNode, children: ReactNode) => ReactNode;

const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

/** One function a node type. */
export const NODES: Record<string, Renderer> = {
  doc: (_, children) => children,
  paragraph: (node, children) => <p id={blockId(node)}>{children || <br />}</p>,
  heading: (node, children) => {
    const Tag = HEADINGS[(intAttr(node, "level", 1, 6) ?? 1) - 1] ?? "h6";
    return <Tag id={blockId(node)}>{children}</Tag>;
  },
  bulletList: (node, children) => <ul id={blockId(node)}>{children}</ul>,
  orderedList: (node, children) => (
    <ol id={blockId(node)} start={intAttr(node, "start", 0, 1_000_000)}>
      {children}
    </ol>
  ),
  listItem: (node, children) => <li id={blockId(node)}>{children}</li>,
  taskList: (node, children) => (
    <ul id={blockId(node)} className="task-list">
      {children}
    </ul>
  ),
  taskItem: (node, children) => (
    <TaskItem id={blockId(node)} checked={node.attrs?.["checked"] === true}>
      {children}
    </TaskItem>
  ),
  table: (node, children) => (
    <div className="table-scroll" role="group" tabIndex={0} id={blockId(node)}>
      <table>
        <tbody>{children}</tbody>
      </table>
    </div>
  ),
  tableRow: (node, children) => <tr id={blockId(node)}>{children}</tr>,
  tableHeader: (node, children) => renderCell("th", node, children),
  tableCell: (node, children) => renderCell("td", node, children),
  codeBlock: (node) => (
    <CodeBlock id={blockId(node)} code={plainText(node)} language={textAttr(node, "language")} />
  ),
  blockquote: (node, children) => <blockquote id={blockId(node)}>{children}</blockquote>,
  callout: (node, children) => (
    <Callout id={blockId(node)} kind={textAttr(node, "type")}>
      {children}
    </Callout>
  ),
  horizontalRule: (node) => <hr id={blockId(node)} />,
  image: (node) => (
    <SafeImage
      id={blockId(node)}
      src={textAttr(node, "src")}
      alt={textAttr(node, "alt")}
      title={textAttr(node, "title")}
      width={intAttr(node, "width", 1, 10_000)}
    />
  ),
  hardBreak: () => <br />,
  mention: (node) => <Mention node={node} />,
};
