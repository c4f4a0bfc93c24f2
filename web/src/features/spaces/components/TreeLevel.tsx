import { Button, Loader } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useTreeLevel } from "../queries/spaces";
import type { Space } from "../types";
import { TreeNode } from "./TreeNode";

interface Props {
  space: Space;
  parentPageId: string | null;
  depth: number;
}

/** The pages directly under a space or page; deeper levels load when they are opened. */
export function TreeLevel({ space, parentPageId, depth }: Props) {
  const { t } = useTranslation();
  const level = useTreeLevel(space.id, parentPageId);
  if (level.isPending) return <Loader size="xs" className="tree-loader" />;
  if (level.isError) {
    return (
      <p role="alert" className="tree-note">
        {t("tree.failed")}{" "}
        <Button size="compact-xs" variant="subtle" onClick={() => void level.refetch()}>
          {t("app.retry")}
        </Button>
      </p>
    );
  }
  if (level.data.length === 0) {
    return depth === 1 ? <p className="tree-note">{t("tree.empty")}</p> : null;
  }
  return (
    <ul className="tree-level">
      {level.data.map((page) => (
        <TreeNode key={page.id} space={space} page={page} depth={depth} />
      ))}
      {level.hasNextPage ? (
        <li>
          <Button
            size="compact-xs"
            variant="subtle"
            loading={level.isFetchingNextPage}
            onClick={() => void level.fetchNextPage()}
          >
            {t("app.more")}
          </Button>
        </li>
      ) : null}
    </ul>
  );
}
