import { Autocomplete, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { SettingsForm } from "../useSettingsForm";
import { ConnectionFields, modelsOf } from "./ConnectionFields";
import { TestButton } from "./TestButton";

export function ChatSection({ form }: { form: SettingsForm }) {
  const { t } = useTranslation();
  const { driver, onlyModel } = form.connection("chat");
  return (
    <section className="settings-section">
      <h2>{t("settings.chatModel")}</h2>
      <ConnectionFields form={form} part="chat" />
      {driver === "offline" ? <p className="muted">{t("settings.offlineHint")}</p> : null}
      {onlyModel ? null : (
        <Autocomplete
          label={t("settings.smallModel")}
          description={t("settings.smallModelHint")}
          autoComplete="off"
          spellCheck={false}
          data={modelsOf(form, driver)}
          value={form.values.smallModel}
          error={form.faults.fields["smallModel"]}
          onChange={(smallModel) => form.setValues({ smallModel })}
        />
      )}
      <div className="field-pair">
        {onlyModel ? null : <Tokens form={form} name="chatContextWindow" />}
        <Tokens form={form} name="chatTokenCeiling" />
      </div>
      <TestButton body={form.testBody("chat")} />
    </section>
  );
}

interface TokensProps {
  form: SettingsForm;
  name: "chatContextWindow" | "chatTokenCeiling";
}

function Tokens({ form, name }: TokensProps) {
  const { t } = useTranslation();
  const bad = form.badNumbers.includes(name);
  return (
    <TextInput
      label={t(`settings.${name}`)}
      description={t(`settings.${name}Hint`)}
      inputMode="numeric"
      autoComplete="off"
      value={form.values[name]}
      error={bad ? t("settings.badTokens") : form.faults.fields[name]}
      onChange={(event) => form.setValues({ [name]: event.currentTarget.value })}
    />
  );
}
