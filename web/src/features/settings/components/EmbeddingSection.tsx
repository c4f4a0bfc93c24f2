import { useTranslation } from "react-i18next";
import type { AiSettings } from "../types";
import type { SettingsForm } from "../useSettingsForm";
import { ConnectionFields } from "./ConnectionFields";
import { TestButton } from "./TestButton";

export function EmbeddingSection({ form }: { form: SettingsForm }) {
  const { t } = useTranslation();
  const { driver, model } = form.connection("embedding");
  const { settings } = form;
  const changed = driver !== settings.embeddingDriver || model !== settings.embeddingModel;
  return (
    <section className="settings-section">
      <h2>{t("settings.embeddings")}</h2>
      <p className="muted">{t("settings.embeddingsLead")}</p>
      <ConnectionFields form={form} part="embedding" />
      {changed ? <p className="muted">{t("settings.embeddingsChange")}</p> : null}
      <IndexProgress settings={settings} />
      <TestButton body={form.testBody("embedding")} />
    </section>
  );
}

function IndexProgress({ settings }: { settings: AiSettings }) {
  const { t } = useTranslation();
  const { indexedPages: done, totalPages: total, reindexing } = settings;
  return (
    <div className="index-progress">
      <label htmlFor="index-progress">
        {t("settings.indexed", { done, count: total })}
        {reindexing ? ` ${t("settings.reindexing")}` : null}
      </label>
      <progress id="index-progress" max={Math.max(total, 1)} value={total === 0 ? 1 : done} />
    </div>
  );
}
