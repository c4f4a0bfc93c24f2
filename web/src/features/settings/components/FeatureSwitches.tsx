import { Switch } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { SettingsForm } from "../useSettingsForm";

const FEATURES = ["chat", "search", "showModelSelector"] as const;

export function FeatureSwitches({ form }: { form: SettingsForm }) {
  const { t } = useTranslation();
  return (
    <section className="settings-section">
      <h2>{t("settings.features")}</h2>
      {FEATURES.map((name) => (
        <Switch
          key={name}
          label={t(`settings.feature.${name}`)}
          description={t(`settings.feature.${name}Hint`)}
          checked={form.values[name]}
          error={form.faults.fields[name]}
          onChange={(event) => form.setValues({ [name]: event.currentTarget.checked })}
        />
      ))}
    </section>
  );
}
