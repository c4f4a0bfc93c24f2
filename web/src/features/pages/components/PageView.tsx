import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { DocumentView } from "@/features/document/components/DocumentView";
import { isBlank } from "@/features/document/attrs";
import { useBlockTarget } from "@/features/document/useBlockTarget";
import { mayWrite } from "@/features/spaces/queries/spaces";
import type { Space } from "@/features/spaces/types";
import { PageIcon, PencilIcon } from "@/shared/ui/icons";
import { EmptyState } from "@/shared/ui/States";
import type { Page } from "../types";
import { Breadcrumbs } from "./Breadcrumbs";
import { PageMeta } from "./PageMeta";
import { PageMenu } from "./PageMenu";

interface Props {
  page: Page;
  space: Space | undefined;
  onEdit: () => void;
}

export function PageView({ page, space, onEdit }: Props) {
  const { t } = useTranslation();
  const writable = mayWrite(space);
  useBlockTarget(true);
  return (
    <article className="page-column">
      <div className="page-bar">
        <Breadcrumbs page={page} space={space} />
        <div className="row">
          {writable ? (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<PencilIcon size={14} />}
              onClick={onEdit}
            >
              {t("page.edit")}
            </Button>
          ) : null}
          <PageMenu page={page} space={space} writable={writable} />
        </div>
      </div>
      <h1 className="page-title">{page.title || t("page.untitled")}</h1>
      <PageMeta page={page} spaceSlug={space?.slug} />
      {isBlank(page.content) ? (
        <EmptyState
          icon={<PageIcon size={36} />}
          title={t("page.empty")}
          hint={writable ? t("page.emptyHint") : undefined}
        />
      ) : (
        <DocumentView content={page.content} />
      )}
    </article>
  );
}
