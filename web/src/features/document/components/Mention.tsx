import { Link } from "react-router";
import { classifyLink } from "@/shared/lib/links";
import { textAttr } from "../attrs";
import type { DocNode } from "../types";

/** A person is named; a page is a link to it. */
export function Mention({ node }: { node: DocNode }) {
  const label = textAttr(node, "label") ?? textAttr(node, "entityId") ?? textAttr(node, "id") ?? "";
  const link = classifyLink(mentionTarget(node), window.location.origin);
  if (link.kind === "internal") {
    return (
      <Link className="mention" to={link.to}>
        {label}
      </Link>
    );
  }
  return <span className="mention">@{label}</span>;
}

/** `/p/{slugId}` leads to a page wherever it is by now. */
function mentionTarget(node: DocNode): string | undefined {
  const url = textAttr(node, "url");
  if (url !== undefined) return url;
  const isPage = (textAttr(node, "entityType") ?? textAttr(node, "kind")) === "page";
  const page = textAttr(node, "slugId") ?? textAttr(node, "entityId");
  return isPage && page !== undefined ? `/p/${encodeURIComponent(page)}` : undefined;
}
