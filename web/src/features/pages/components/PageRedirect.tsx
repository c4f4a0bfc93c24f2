import { Navigate, useParams } from "react-router";
import { useSpaces } from "@/features/spaces/queries/spaces";
import { EmptyState, ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useTranslation } from "react-i18next";
import { pagePath } from "../pageUrl";
import { usePage } from "../queries/pages";

/** `/p/{id}`: to the page, wherever it is by now. */
export function PageRedirect() {
  const { t } = useTranslation();
  const { pageId = "" } = useParams();
  const page = usePage(pageId);
  const spaces = useSpaces();
  if (page.isError) return <ErrorState error={page.error} onRetry={() => void page.refetch()} />;
  if (page.isPending || spaces.isPending) return <TextSkeleton />;
  const space = spaces.data?.find((candidate) => candidate.id === page.data.spaceId);
  if (!space) return <EmptyState title={t("app.notFound")} hint={t("app.notFoundHint")} />;
  return <Navigate to={pagePath(space.slug, page.data)} replace />;
}
