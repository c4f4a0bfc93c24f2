import { ActionIcon } from "@mantine/core";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { openNewPage } from "@/features/pages/newPage";
import { spacePath } from "@/features/pages/pageUrl";
import { PlusIcon } from "@/shared/ui/icons";
import { setNodeOpen, useNodeOpen } from "../openNodes";
import { mayWrite } from "../queries/spaces";
import type { Space } from "../types";
import { Disclosure } from "./Disclosure";
import { TreeLevel } from "./TreeLevel";

interface Props {
  space: Space;
  /** The only space opens by itself. */
  only: boolean;
}

export function SpaceBranch({ space, only }: Props) {
  const { t } = useTranslation();
  const { spaceSlug } = useParams();
  const here = spaceSlug === space.slug;
  const isOpen = useNodeOpen(space.id);
  useEffect(() => {
    if (here || only) setNodeOpen(space.id, true);
  }, [here, only, space.id]);

  return (
    <section className="space-branch">
      <div className="tree-row space-row">
        <Disclosure id={space.id} title={space.name} open={isOpen} />
        <Link to={spacePath(space.slug)} className="tree-link">
          {space.name}
        </Link>
        {mayWrite(space) ? (
          <ActionIcon
            className="row-action"
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={t("tree.newIn", { title: space.name })}
            title={t("tree.newIn", { title: space.name })}
            onClick={() => openNewPage({ spaceId: space.id, parentPageId: null })}
          >
            <PlusIcon size={15} />
          </ActionIcon>
        ) : null}
      </div>
      {isOpen ? <TreeLevel space={space} parentPageId={null} depth={1} /> : null}
    </section>
  );
}
