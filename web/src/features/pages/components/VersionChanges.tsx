import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { type ChangeRow, changesBetween } from "../changes";
import { useVersion } from "../queries/history";
import type { PageVersionText } from "../types";

interface Props {
  pageId: string;
  version: PageVersionText;
}

export function VersionChanges({ pageId, version }: Props) {
  const { t } = useTranslation();
  const before = useVersion(pageId, version.version - 1);
  if (version.version === 1) return <p className="muted">{t("history.first")}</p>;
  if (before.isPending) return <TextSkeleton lines={8} />;
  if (before.isError) {
    return <ErrorState error={before.error} onRetry={() => void before.refetch()} />;
  }
  return <Comparison before={before.data} after={version} />;
}

function Comparison({ before, after }: { before: PageVersionText; after: PageVersionText }) {
  const { t } = useTranslation();
  const { rows, added, removed } = useMemo(
    () => changesBetween(before.markdown, after.markdown),
    [before.markdown, after.markdown],
  );
  const retitled = before.title !== after.title;
  return (
    <>
      <p className="page-meta">
        {t("history.comparedWith", { number: before.version })}
        <span className="change-count" data-kind="added">
          {t("history.added", { count: added })}
        </span>
        <span className="change-count" data-kind="removed">
          {t("history.removed", { count: removed })}
        </span>
      </p>
      {retitled ? (
        <p className="change-title">
          {t("history.title")} <del>{before.title}</del> <ins>{after.title}</ins>
        </p>
      ) : null}
      {added + removed > 0 ? (
        <pre className="changes" tabIndex={0} aria-label={t("history.changes")}>
          {rows.map((row, index) => (
            <Row key={index} row={row} />
          ))}
        </pre>
      ) : (
        <p className="muted">{retitled ? t("history.sameText") : t("history.sameMarkdown")}</p>
      )}
    </>
  );
}

function Row({ row }: { row: ChangeRow }) {
  const { t } = useTranslation();
  switch (row.kind) {
    case "gap":
      return <span className="change-gap">{t("history.unchanged", { count: row.lines })}</span>;
    case "added":
      return <ins className="change-line">{row.text}</ins>;
    case "removed":
      return <del className="change-line">{row.text}</del>;
    case "same":
      return <span className="change-line">{row.text}</span>;
  }
}
