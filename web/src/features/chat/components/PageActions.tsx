import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { SafeLink } from "@/shared/ui/SafeLink";
import { historyPath } from "../lib/tools";
import type { PageAction } from "../types";

interface Props {
  title: string;
  actions: PageAction[];
}

/** Pages that turns have written, each with the way to what it was before. */
export function PageActions({ title, actions }: Props) {
  const { t } = useTranslation();
  if (actions.length === 0) return null;
  return (
    <section className="page-actions" aria-label={title}>
      <p>{title}</p>
      <ul>
        {actions.map((action) => (
          <li key={`${action.pageId}-${action.version}`}>
            <SafeLink href={action.url}>{action.title || t("page.untitled")}</SafeLink>
            <span className="muted">
              {t(`chat.page.${action.action}`, { version: action.version })}
            </span>
            <HistoryLink url={action.url} title={action.title} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function HistoryLink({ url, title }: { url: string; title: string }) {
  const { t } = useTranslation();
  const to = historyPath(url, window.location.origin);
  if (to === null) return null;
  return (
    <Link to={to} aria-label={t("chat.page.historyOf", { title })}>
      {t("chat.page.history")}
    </Link>
  );
}
