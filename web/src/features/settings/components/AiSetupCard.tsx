import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { AlertIcon } from "@/shared/ui/icons";
import { useNames } from "../names";
import { useAiSettings, useAiStatus } from "../queries/settings";
import type { AiStatus } from "../types";

/**
 * What stands between the workspace and an answering model: a card when something is missing,
 * a quiet line for admins when no language model is connected, nothing when all is well.
 */
export function AiSetupCard() {
  const { data: status } = useAiStatus();
  if (status === undefined) return null;
  if (!status.configured) return <MissingCard status={status} />;
  if (status.reachable === false) return <UnreachableCard status={status} />;
  return status.driver === "offline" && status.canConfigure ? <OfflineHint /> : null;
}

function MissingCard({ status }: { status: AiStatus }) {
  const { t } = useTranslation();
  const names = useNames();
  const missing = useAiSettings({ enabled: status.canConfigure }).data?.missing ?? [];
  const lead =
    missing.length > 0
      ? t("settings.missingLead", { what: names.missing(missing) })
      : t("setup.missing");
  return (
    <Card title={t("setup.notConfigured")} lead={status.canConfigure ? lead : t("setup.askAdmin")}>
      {status.canConfigure ? <SettingsLink /> : null}
    </Card>
  );
}

function UnreachableCard({ status }: { status: AiStatus }) {
  const { t } = useTranslation();
  const names = useNames();
  const { title, advice } = names.failure(status.code ?? "internal");
  if (!status.canConfigure) {
    return <Card title={t("setup.unreachable")} lead={t("setup.askAdmin")} />;
  }
  return (
    <Card title={t("setup.unreachable")} lead={`${title}. ${advice}`}>
      <p className="muted">
        {names.driver(status.driver)}, {status.model}
        {status.reason ? `: ${status.reason}` : null}
      </p>
      <SettingsLink />
    </Card>
  );
}

function OfflineHint() {
  const { t } = useTranslation();
  return (
    <p className="setup-hint">
      {t("setup.offline")} <Link to="/settings/ai">{t("setup.connect")}</Link>
    </p>
  );
}

interface CardProps {
  title: string;
  lead: string;
  children?: ReactNode;
}

function Card({ title, lead, children }: CardProps) {
  return (
    <section className="setup-card" aria-label={title}>
      <AlertIcon size={20} />
      <div>
        <h3>{title}</h3>
        <p>{lead}</p>
        {children}
      </div>
    </section>
  );
}

function SettingsLink() {
  const { t } = useTranslation();
  return <Link to="/settings/ai">{t("setup.openSettings")}</Link>;
}
