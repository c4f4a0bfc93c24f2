import { Alert, Button, Modal, NativeSelect, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { NO_FAULTS, faultsOf } from "../faults";
import { type ModelFields, fieldsOf, itemOf } from "../modelForm";
import { useNames } from "../names";
import { useSaveModel } from "../queries/settings";
import type { CatalogueModel } from "../types";

interface Props {
  item: CatalogueModel | "new" | null;
  drivers: string[];
  onClose: () => void;
}

export function ModelDialog({ item, drivers, onClose }: Props) {
  const { t } = useTranslation();
  const title = item === "new" ? t("settings.addModel") : (item?.model ?? "");
  return (
    <Modal opened={item !== null} onClose={onClose} title={title} lockScroll={false}>
      {item === null ? null : <ModelForm item={item} drivers={drivers} onClose={onClose} />}
    </Modal>
  );
}

const NUMBERS = ["inputPrice", "outputPrice", "contextWindow"] as const;

function ModelForm({ item, drivers, onClose }: Props & { item: CatalogueModel | "new" }) {
  const { t } = useTranslation();
  const names = useNames();
  const save = useSaveModel();
  const [fields, setFields] = useState(() => fieldsOf(item === "new" ? emptyFor(drivers) : item));
  const [wrong, setWrong] = useState<(keyof ModelFields)[]>([]);
  const faults = save.isError ? faultsOf(save.error, save.variables) : NO_FAULTS;
  const known = item !== "new"; // its driver and name say which one it is
  const change = (part: Partial<ModelFields>) => setFields({ ...fields, ...part });
  const errorAt = (name: keyof ModelFields) =>
    wrong.includes(name)
      ? t(name === "model" ? "settings.nameNeeded" : name === "contextWindow" ? "settings.badTokens" : "settings.badPrice")
      : faults.fields[name];

  function submit(event: FormEvent) {
    event.preventDefault();
    const checked = itemOf(fields);
    if (Array.isArray(checked)) setWrong(checked);
    else save.mutate(checked, { onSuccess: onClose });
  }

  return (
    <form className="stack" noValidate onSubmit={submit}>
      <NativeSelect
        label={t("settings.provider")}
        disabled={known}
        value={fields.driver}
        data={drivers.map((driver) => ({ value: driver, label: names.driver(driver) }))}
        onChange={(event) => change({ driver: event.currentTarget.value })}
      />
      <TextInput
        label={t("settings.column.model")}
        disabled={known}
        data-autofocus={!known || undefined}
        spellCheck={false}
        value={fields.model}
        error={errorAt("model")}
        onChange={(event) => change({ model: event.currentTarget.value })}
      />
      {NUMBERS.map((name) => (
        <TextInput
          key={name}
          label={t(`settings.modelField.${name}`)}
          inputMode="decimal"
          value={fields[name]}
          error={errorAt(name)}
          onChange={(event) => change({ [name]: event.currentTarget.value })}
        />
      ))}
      <Switch
        label={t("settings.modelField.allowed")}
        checked={fields.allowed}
        onChange={(event) => change({ allowed: event.currentTarget.checked })}
      />
      {faults.general ? (
        <Alert color="red" role="alert">
          {faults.general}
        </Alert>
      ) : null}
      <div className="row end">
        <Button variant="default" onClick={onClose}>
          {t("app.cancel")}
        </Button>
        <Button type="submit" loading={save.isPending}>
          {t("editor.save")}
        </Button>
      </div>
    </form>
  );
}

const emptyFor = (drivers: string[]): CatalogueModel => ({
  driver: drivers.find((driver) => driver !== "offline") ?? "",
  model: "",
  inputPrice: null,
  outputPrice: null,
  contextWindow: null,
  allowed: true,
});
