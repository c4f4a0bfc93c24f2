import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { openNewPage } from "@/features/pages/newPage";
import { pagePath } from "@/features/pages/pageUrl";
import { PageIcon, PlusIcon } from "@/shared/ui/icons";
import { EmptyState, ErrorState, TextSkeleton } from "@/shared/ui/States";
import { mayWrite, useSpaceBySlug, useSpaces, useTreeLevel } from "../queries/spaces";
import type { Space } from "../types";

/** A space: its top pages. */
export function SpacePage() {
  const { t } = useTranslation();
  const { spaceSlug } = useParams();
  const spaces = useSpaces();
  const space = useSpaceBySlug(spaceSlug);
  if (spaces.isPending) return <TextSkeleton />;
  if (spaces.isError) {
    return <ErrorState error={spaces.error} onRetry={() => void spaces.refetch()} />;
  }
  if (!space) return <EmptyState title={t("app.notFound")} hint={t("app.notFoundHint")} />;
  return <SpacePages space={space} />;
}

function SpacePages({ space }: { space: Space }) {
  const { t } = useTranslation();
  const level = useTreeLevel(space.id, null);
  useEffect(() => {
    document.title = `${space.name} · ${t("app.name")}`;
  }, [space.name, t]);

  const newPage = mayWrite(space) ? (
    <Button
      leftSection={<PlusIcon />}
      variant="light"
      onClick={() => openNewPage({ spaceId: space.id, parentPageId: null })}
    >
      {t("page.newPage")}
    </Button>
  ) : null;
  return (
    <article className="page-column">
      <div className="page-head">
        <h1>{space.name}</h1>
        {newPage}
      </div>
      {level.isPending ? <TextSkeleton /> : null}
      {level.isError ? (
        <ErrorState error={level.error} onRetry={() => void level.refetch()} />
      ) : null}
      {level.data?.length === 0 ? (
        <EmptyState
          icon={<PageIcon size={36} />}
          title={t("page.spaceEmpty")}
          hint={newPage ? t("page.spaceEmptyHint") : undefined}
        />
      ) : null}
      <ul className="page-list">
        {level.data?.map((page) => (
          <li key={page.id}>
            <Link to={pagePath(space.slug, page)}>
              <PageIcon size={17} />
              {page.title || t("page.untitled")}
            </Link>
          </li>
        ))}
      </ul>
      {level.hasNextPage ? (
        <Button variant="subtle" onClick={() => void level.fetchNextPage()}>
          {t("app.more")}
        </Button>
      ) : null}
    </article>
  );
}
