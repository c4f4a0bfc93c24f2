import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useSession } from "@/features/auth/queries/session";
import { isStatus } from "@/shared/api/errors";
import { EmptyState, ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useAiSettings, useCatalogue } from "../queries/settings";
import { mayConfigure } from "../roles";
import type { AiSettings } from "../types";
import { ModelCatalogue } from "./ModelCatalogue";
import { SettingsForm } from "./SettingsForm";

/** The route of the workspace's AI settings, for owners and admins. */
export default function AiSettingsScreen() {
  const { t } = useTranslation();
  const { data: session } = useSession();
  const allowed = mayConfigure(session);
  const settings = useAiSettings({ enabled: allowed, watch: true });
  useEffect(() => {
    document.title = `${t("settings.heading")} · ${t("app.name")}`;
  }, [t]);
  if (!allowed || isStatus(settings.error, 403)) {
    return <EmptyState title={t("settings.forbidden")} hint={t("settings.forbiddenHint")} />;
  }
  if (settings.data === undefined) {
    return settings.isError ? (
      <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
    ) : (
      <TextSkeleton lines={8} />
    );
  }
  return (
    <div className="page-column settings">
      <h1>{t("settings.heading")}</h1>
      <p className="muted">{t("settings.lead")}</p>
      <Body settings={settings.data} />
    </div>
  );
}

function Body({ settings }: { settings: AiSettings }) {
  const catalogue = useCatalogue();
  return (
    <>
      <SettingsForm settings={settings} models={catalogue.data ?? NO_MODELS} />
      <ModelCatalogue
        drivers={settings.drivers.map(({ driver }) => driver)}
        models={catalogue.data}
        error={catalogue.error}
        onRetry={() => void catalogue.refetch()}
      />
    </>
  );
}

const NO_MODELS: never[] = [];
