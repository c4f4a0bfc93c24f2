import { lazy, Suspense, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate, useParams, useSearchParams } from "react-router";
import { mayWrite, useSpaces } from "@/features/spaces/queries/spaces";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { decode, pagePath, slugIdOf } from "../pageUrl";
import { usePage } from "../queries/pages";
import type { Page } from "../types";
import { useOpenPage } from "../useOpenPage";
import { PageView } from "./PageView";

const PageEditor = lazy(() => import("./PageEditor"));

/** The route of one page: its text, or with `?edit` the editor. */
export function PageScreen() {
  const { pageName = "" } = useParams();
  const slugId = slugIdOf(pageName);
  const page = usePage(slugId);
  if (page.isPending) return <TextSkeleton lines={8} />;
  if (page.isError) {
    return <ErrorState error={page.error} onRetry={() => void page.refetch()} />;
  }
  return <LoadedPage key={page.data.id} page={page.data} />;
}

function LoadedPage({ page }: { page: Page }) {
  const { t } = useTranslation();
  const [search, setSearch] = useSearchParams();
  const space = useSpaces().data?.find((candidate) => candidate.id === page.spaceId);
  const title = page.title || t("page.untitled");
  const editing = search.has("edit") && mayWrite(space);
  useCanonicalPath(space?.slug, page);
  useEffect(() => {
    document.title = `${title} · ${t("app.name")}`;
  }, [title, t]);
  useOpenPage(page.id, title);

  if (!editing) return <PageView page={page} space={space} onEdit={() => setSearch({ edit: "" })} />;
  return (
    <Suspense fallback={<TextSkeleton lines={8} />}>
      <PageEditor pageId={page.id} onClose={() => setSearch({}, { replace: true })} />
    </Suspense>
  );
}

/** An old title or space in the address gives way to the present one, without a history entry. */
function useCanonicalPath(spaceSlug: string | undefined, page: Page) {
  const location = useLocation();
  const navigate = useNavigate();
  useEffect(() => {
    if (spaceSlug === undefined) return;
    const path = pagePath(spaceSlug, page);
    if (decode(path) !== decode(location.pathname)) {
      void navigate(path + location.search + location.hash, { replace: true });
    }
  }, [spaceSlug, page, location.pathname, location.search, location.hash, navigate]);
}
