import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams, useSearchParams } from "react-router";
import { useSpaces } from "@/features/spaces/queries/spaces";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { pagePath, slugIdOf } from "../pageUrl";
import { useHistory } from "../queries/history";
import { usePage } from "../queries/pages";
import type { Page } from "../types";
import { useOpenPage } from "../useOpenPage";
import { Breadcrumbs } from "./Breadcrumbs";
import { VersionList } from "./VersionList";
import { VersionView } from "./VersionView";

/** The route of a page's history; `?version` says which one is shown, else the newest. */
export default function HistoryScreen() {
  const { pageName = "" } = useParams();
  const page = usePage(slugIdOf(pageName));
  if (page.isPending) return <TextSkeleton lines={8} />;
  if (page.isError) {
    return <ErrorState error={page.error} onRetry={() => void page.refetch()} />;
  }
  return <PageHistory key={page.data.id} page={page.data} />;
}

function PageHistory({ page }: { page: Page }) {
  const { t } = useTranslation();
  const space = useSpaces().data?.find((candidate) => candidate.id === page.spaceId);
  const title = page.title || t("page.untitled");
  useOpenPage(page.id, title);
  useEffect(() => {
    document.title = `${t("history.heading")}: ${title} · ${t("app.name")}`;
  }, [title, t]);
  return (
    <div className="history">
      <div className="page-bar">
        <Breadcrumbs page={page} space={space} />
      </div>
      <h1 className="history-title">
        {t("history.heading")}: <Link to={pagePath(space?.slug ?? "", page)}>{title}</Link>
      </h1>
      <Versions page={page} />
    </div>
  );
}

function Versions({ page }: { page: Page }) {
  const [search] = useSearchParams();
  const history = useHistory(page.id);
  if (history.isPending) return <TextSkeleton lines={8} />;
  if (history.isError) {
    return <ErrorState error={history.error} onRetry={() => void history.refetch()} />;
  }
  const chosen = versionIn(search) ?? history.data[0]?.version ?? 1;
  return (
    <div className="history-panes">
      <VersionList
        versions={history.data}
        chosen={chosen}
        onMore={history.hasNextPage ? () => void history.fetchNextPage() : undefined}
        loadingMore={history.isFetchingNextPage}
      />
      <VersionView pageId={page.id} version={chosen} />
    </div>
  );
}

function versionIn(search: URLSearchParams): number | null {
  const number = Number(search.get("version"));
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}
