import { useTranslation } from "react-i18next";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useSpaces } from "../queries/spaces";
import { SpaceBranch } from "./SpaceBranch";

/** All spaces with their page trees. */
export function Sidebar() {
  const { t } = useTranslation();
  const spaces = useSpaces();
  return (
    <nav aria-label={t("tree.label")} className="tree">
      {spaces.isPending ? <TextSkeleton lines={6} /> : null}
      {spaces.isError ? (
        <ErrorState error={spaces.error} onRetry={() => void spaces.refetch()} />
      ) : null}
      {spaces.data?.length === 0 ? <p className="muted">{t("home.noSpaces")}</p> : null}
      {spaces.data?.map((space) => (
        <SpaceBranch key={space.id} space={space} only={spaces.data.length === 1} />
      ))}
    </nav>
  );
}
