import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { initials } from "@/features/auth/components/UserMenu";
import { dateTime, timeAgo } from "@/shared/lib/time";
import type { PageVersion } from "../types";
import { AgentBadge } from "./AgentBadge";

interface Props {
  versions: PageVersion[];
  chosen: number;
  /** Loads older ones; undefined when there are none. */
  onMore: (() => void) | undefined;
  loadingMore: boolean;
}

export function VersionList({ versions, chosen, onMore, loadingMore }: Props) {
  const { t } = useTranslation();
  return (
    <nav className="version-list" aria-label={t("history.versions")}>
      <ol>
        {versions.map((version) => (
          <VersionItem key={version.version} version={version} current={version.version === chosen} />
        ))}
      </ol>
      {onMore ? (
        <Button variant="subtle" size="compact-sm" loading={loadingMore} onClick={onMore}>
          {t("app.more")}
        </Button>
      ) : null}
    </nav>
  );
}

function VersionItem({ version, current }: { version: PageVersion; current: boolean }) {
  const { t, i18n } = useTranslation();
  const name = version.author?.name ?? t("history.somebody");
  return (
    <li className="version-item" data-current={current || undefined}>
      <span className="avatar" aria-hidden="true">
        {version.author ? initials(name) : "?"}
      </span>
      <div className="version-who">
        <span className="version-name">{name}</span>
        {version.lastUpdatedSource === "agent" ? (
          <AgentBadge author={version.author} aiChat={version.aiChat} />
        ) : null}
      </div>
      <Link
        to={{ search: `?version=${version.version}` }}
        replace
        className="version-open"
        aria-current={current ? "true" : undefined}
      >
        {t("history.version", { number: version.version })}
        <time dateTime={version.createdAt} title={dateTime(version.createdAt, i18n.language)}>
          {timeAgo(version.createdAt, i18n.language)}
        </time>
      </Link>
    </li>
  );
}
