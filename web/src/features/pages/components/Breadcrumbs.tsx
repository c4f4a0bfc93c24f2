import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { setNodeOpen } from "@/features/spaces/openNodes";
import type { Space } from "@/features/spaces/types";
import { pagePath, spacePath } from "../pageUrl";
import { useAncestors } from "../queries/ancestors";
import type { Page } from "../types";

interface Props {
  page: Page;
  space: Space | undefined;
}

/** Where a page stands; opens the tree down to it. */
export function Breadcrumbs({ page, space }: Props) {
  const { t } = useTranslation();
  const { data: ancestors } = useAncestors(page);
  useEffect(() => {
    for (const ancestor of ancestors ?? []) setNodeOpen(ancestor.id, true);
  }, [ancestors]);
  if (space === undefined) return <span />;
  return (
    <nav className="breadcrumbs" aria-label={space.name}>
      <Link to={spacePath(space.slug)}>{space.name}</Link>
      {(ancestors ?? []).map((ancestor) => (
        <Link key={ancestor.id} to={pagePath(space.slug, ancestor)}>
          {ancestor.title || t("page.untitled")}
        </Link>
      ))}
    </nav>
  );
}
