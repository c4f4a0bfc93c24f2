import { Alert, Badge, Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { useNames } from "../names";
import type { AiSettings, CatalogueModel } from "../types";
import { type SettingsForm as Form, useSettingsForm } from "../useSettingsForm";
import { ChatSection } from "./ChatSection";
import { EmbeddingSection } from "./EmbeddingSection";
import { FeatureSwitches } from "./FeatureSwitches";
import { PromptSection } from "./PromptSection";
import { UnattendedSection } from "./UnattendedSection";

interface Props {
  settings: AiSettings;
  models: CatalogueModel[];
}

export function SettingsForm({ settings, models }: Props) {
  const { t } = useTranslation();
  const form = useSettingsForm(settings, models, () =>
    notifications.show({ message: t("settings.saved") }),
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    form.submit();
  }
  return (
    // The browser's own bubbles would be in another language than the page.
    <form className="stack" noValidate onSubmit={submit} aria-label={t("settings.heading")}>
      <Readiness settings={settings} />
      <ChatSection form={form} />
      <EmbeddingSection form={form} />
      <PromptSection form={form} />
      <FeatureSwitches form={form} />
      <UnattendedSection form={form} />
      <SaveBar form={form} />
    </form>
  );
}

function Readiness({ settings }: { settings: AiSettings }) {
  const { t } = useTranslation();
  const names = useNames();
  if (settings.ready) return null;
  return (
    <Alert color="orange" title={t("settings.notReady")}>
      {t("settings.missingLead", { what: names.missing(settings.missing) })}
    </Alert>
  );
}

function SaveBar({ form }: { form: Form }) {
  const { t } = useTranslation();
  if (!form.dirty) return null;
  const atFields = Object.keys(form.faults.fields).length + form.badNumbers.length > 0;
  return (
    <div className="save-bar">
      {form.faults.general !== null || atFields ? (
        <p role="alert" className="save-fault">
          {t("settings.notSaved", { message: form.faults.general ?? t("settings.seeFields") })}
        </p>
      ) : null}
      <div className="row end">
        <Badge variant="dot" color="yellow" className="save-state">
          {t("editor.unsaved")}
        </Badge>
        <Button size="compact-sm" variant="default" onClick={form.discard}>
          {t("settings.discard")}
        </Button>
        <Button size="compact-sm" type="submit" loading={form.saving}>
          {t("editor.save")}
        </Button>
      </div>
    </div>
  );
}
