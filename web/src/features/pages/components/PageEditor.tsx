import { useTranslation } from "react-i18next";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { usePageMarkdown } from "../queries/pages";
import { EditorForm } from "./EditorForm";

interface Props {
  pageId: string;
  onClose: () => void;
}

export default function PageEditor({ pageId, onClose }: Props) {
  const { t } = useTranslation();
  const page = usePageMarkdown(pageId);
  if (page.isFetching) return <TextSkeleton lines={8} />;
  if (page.isError) {
    return <ErrorState error={page.error} onRetry={() => void page.refetch()} />;
  }
  if (page.data === undefined) return <p>{t("app.loading")}</p>;
  return <EditorForm page={page.data} onClose={onClose} />;
}
