import { Textarea } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { SettingsForm } from "../useSettingsForm";

/** The agent's instructions; without any of the workspace's own, the default text is used. */
export function PromptSection({ form }: { form: SettingsForm }) {
  const { t } = useTranslation();
  const { systemPrompt } = form.values;
  const { defaultSystemPrompt } = form.settings;
  const own = systemPrompt !== "";
  return (
    <section className="settings-section">
      <h2>{t("settings.prompt")}</h2>
      <Textarea
        aria-label={t("settings.prompt")}
        description={own ? t("settings.promptOwn") : t("settings.promptDefault")}
        placeholder={defaultSystemPrompt}
        autosize
        minRows={6}
        maxRows={24}
        value={systemPrompt}
        error={form.faults.fields["systemPrompt"]}
        onChange={(event) => form.setValues({ systemPrompt: event.currentTarget.value })}
      />
      {own ? (
        <button
          type="button"
          className="text-button fit"
          onClick={() => form.setValues({ systemPrompt: "" })}
        >
          {t("settings.useDefault")}
        </button>
      ) : (
        <button
          type="button"
          className="text-button fit"
          onClick={() => form.setValues({ systemPrompt: defaultSystemPrompt })}
        >
          {t("settings.editDefault")}
        </button>
      )}
      <details className="default-prompt">
        <summary>{t("settings.showDefault")}</summary>
        <pre>{defaultSystemPrompt}</pre>
      </details>
    </section>
  );
}
