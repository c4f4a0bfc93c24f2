import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { pagePath, slugIdOf } from "@/features/pages/pageUrl";
import { useNodeOpen } from "../openNodes";
import type { Space, TreePage } from "../types";
import { Disclosure } from "./Disclosure";
import { TreeLevel } from "./TreeLevel";

const INDENT = 14; // pixels a level

interface Props {
  space: Space;
  page: TreePage;
  depth: number;
}

export function TreeNode({ space, page, depth }: Props) {
  const { t } = useTranslation();
  const { pageName = "" } = useParams();
  const isOpen = useNodeOpen(page.id);
  const here = slugIdOf(pageName) === page.slugId;
  const title = page.title || t("page.untitled");
  return (
    <li>
      <div className="tree-row" style={{ paddingInlineStart: depth * INDENT - 6 }}>
        {page.hasChildren ? (
          <Disclosure id={page.id} title={title} open={isOpen} />
        ) : (
          <span className="tree-dot" aria-hidden="true" />
        )}
        <Link
          to={pagePath(space.slug, page)}
          className="tree-link"
          title={title}
          aria-current={here ? "page" : undefined}
        >
          {title}
        </Link>
      </div>
      {isOpen && page.hasChildren ? (
        <TreeLevel space={space} parentPageId={page.id} depth={depth + 1} />
      ) : null}
    </li>
  );
}
