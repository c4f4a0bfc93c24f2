import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { dateTime, timeAgo } from "@/shared/lib/time";
import { historyPath } from "../pageUrl";
import type { Page } from "../types";
import { AgentBadge } from "./AgentBadge";

interface Props {
  page: Page;
  spaceSlug: string | undefined;
}

/** Who changed the page last and when, whether by the agent's hand, and the way to its history. */
export function PageMeta({ page, spaceSlug }: Props) {
  const { t, i18n } = useTranslation();
  const when = timeAgo(page.updatedAt, i18n.language);
  const name = page.lastUpdatedBy?.name;
  return (
    <div className="page-meta">
      <time dateTime={page.updatedAt} title={dateTime(page.updatedAt, i18n.language)}>
        {name ? t("page.updatedBy", { when, name }) : t("page.updated", { when })}
      </time>
      {page.lastUpdatedSource === "agent" ? (
        <AgentBadge author={page.lastUpdatedBy} aiChat={page.aiChat} />
      ) : null}
      {spaceSlug ? <Link to={historyPath(spaceSlug, page)}>{t("history.heading")}</Link> : null}
    </div>
  );
}
