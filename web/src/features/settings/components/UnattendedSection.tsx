import { Switch, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { SettingsForm } from "../useSettingsForm";

/** What becomes of an answer whose readers have all left. */
export function UnattendedSection({ form }: { form: SettingsForm }) {
  const { t } = useTranslation();
  const { onDisconnect, disconnectGraceSeconds } = form.values;
  const stops = onDisconnect === "cancel";
  const bad = form.badNumbers.includes("disconnectGraceSeconds");
  return (
    <section className="settings-section">
      <h2>{t("settings.unattended")}</h2>
      <Switch
        label={t("settings.stopUnattended")}
        description={t("settings.stopUnattendedHint")}
        checked={stops}
        error={form.faults.fields["onDisconnect"]}
        onChange={(event) =>
          form.setValues({ onDisconnect: event.currentTarget.checked ? "cancel" : "continue" })
        }
      />
      {stops || bad ? (
        <TextInput
          label={t("settings.graceSeconds")}
          inputMode="numeric"
          value={disconnectGraceSeconds}
          error={bad ? t("settings.badSeconds") : form.faults.fields["disconnectGraceSeconds"]}
          onChange={(event) => form.setValues({ disconnectGraceSeconds: event.currentTarget.value })}
        />
      ) : null}
    </section>
  );
}
