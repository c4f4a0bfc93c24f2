import { Autocomplete, NativeSelect, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Connection, Part } from "../connection";
import { useNames } from "../names";
import type { SettingsForm } from "../useSettingsForm";
import { ApiKeyField } from "./ApiKeyField";

/** The names that a connection's fields have in the API, where its faults are told. */
const NAMES = {
  chat: { driver: "driver", model: "chatModel", baseUrl: "baseUrl", apiKey: "apiKey" },
  embedding: {
    driver: "embeddingDriver",
    model: "embeddingModel",
    baseUrl: "embeddingBaseUrl",
    apiKey: "embeddingApiKey",
  },
} as const;

interface Props {
  form: SettingsForm;
  part: Part;
}

/** Which provider, and of the rest only what that provider needs. */
export function ConnectionFields({ form, part }: Props) {
  const { t } = useTranslation();
  const names = useNames();
  const now = form.connection(part);
  const drivers = part === "chat" ? form.settings.drivers : form.settings.embeddingDrivers;
  const fault = (field: keyof (typeof NAMES)["chat"]) => form.faults.fields[NAMES[part][field]];
  return (
    <>
      <NativeSelect
        label={t("settings.provider")}
        value={now.driver}
        error={fault("driver")}
        data={drivers.map(({ driver }) => ({ value: driver, label: names.driver(driver) }))}
        onChange={(event) => form.chooseDriver(part, event.currentTarget.value)}
      />
      {now.info.baseUrlAllowed ? (
        <TextInput
          label={t("settings.baseUrl")}
          description={baseUrlHint(now, t)}
          placeholder={now.info.defaultBaseUrl ?? "https://…/v1"}
          required={now.info.needsBaseUrl}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          value={now.baseUrl}
          error={fault("baseUrl")}
          onChange={(event) => form.type(part, now.driver, { baseUrl: event.currentTarget.value })}
        />
      ) : null}
      {now.info.keyAllowed ? (
        <ApiKeyField
          // Another driver's field is another field: what was typed stays with its driver.
          key={now.driver}
          connection={now}
          error={fault("apiKey")}
          onType={(apiKey) => form.type(part, now.driver, { apiKey })}
        />
      ) : null}
      {now.onlyModel ? null : (
        <Autocomplete
          label={t("settings.model")}
          required
          autoComplete="off"
          spellCheck={false}
          data={part === "chat" ? modelsOf(form, now.driver) : []}
          value={now.model}
          error={fault("model")}
          onChange={(model) => form.type(part, now.driver, { model })}
        />
      )}
    </>
  );
}

export const modelsOf = ({ models }: SettingsForm, driver: string) =>
  models.filter((item) => item.driver === driver).map((item) => item.model);

function baseUrlHint({ info }: Connection, t: ReturnType<typeof useTranslation>["t"]) {
  return info.defaultBaseUrl === null
    ? t("settings.baseUrlNeeded")
    : t("settings.baseUrlDefault", { url: info.defaultBaseUrl });
}
