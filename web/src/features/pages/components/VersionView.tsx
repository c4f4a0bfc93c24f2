import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { isBlank } from "@/features/document/attrs";
import { DocumentView } from "@/features/document/components/DocumentView";
import { dateTime } from "@/shared/lib/time";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useVersion } from "../queries/history";
import type { PageVersionText } from "../types";
import { VersionChanges } from "./VersionChanges";

interface Props {
  pageId: string;
  version: number;
}

/** A version as it was, or what it changed in the one before. */
export function VersionView({ pageId, version }: Props) {
  const { t } = useTranslation();
  const [mode, setMode] = useState("text");
  const found = useVersion(pageId, version);
  return (
    <section className="version-view" aria-label={t("history.version", { number: version })}>
      <SegmentedControl
        size="xs"
        value={mode}
        onChange={setMode}
        aria-label={t("history.show")}
        data={[
          { value: "text", label: t("history.text") },
          { value: "changes", label: t("history.changes") },
        ]}
      />
      {found.isPending ? <TextSkeleton lines={8} /> : null}
      {found.isError ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data && mode === "text" ? <VersionText version={found.data} /> : null}
      {found.data && mode === "changes" ? (
        <VersionChanges pageId={pageId} version={found.data} />
      ) : null}
    </section>
  );
}

function VersionText({ version }: { version: PageVersionText }) {
  const { t, i18n } = useTranslation();
  return (
    <article>
      <h2 className="version-title">{version.title || t("page.untitled")}</h2>
      <p className="page-meta">
        {t("history.asOf", { when: dateTime(version.createdAt, i18n.language) })}
      </p>
      {isBlank(version.content) ? (
        <p className="muted">{t("history.blank")}</p>
      ) : (
        <DocumentView content={version.content} />
      )}
    </article>
  );
}
