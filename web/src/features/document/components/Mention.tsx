import { Link } from "react-router";
import { textAttr } from "../attrs";
import type { DocNode } from "../types";

/** A person is named; a page is a link to it, wherever it is by now. */
export function Mention({ node }: { node: DocNode }) {
  const id = textAttr(node, "id");
  const label = textAttr(node, "label") ?? id ?? "";
  if (textAttr(node, "entityType") === "page" && id !== undefined) {
    return (
      <Link className="mention" to={`/p/${encodeURIComponent(id)}`}>
        {label}
      </Link>
    );
  }
  return <span className="mention">@{label}</span>;
}
