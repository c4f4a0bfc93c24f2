import { useState } from "react";
import type { Part, Typed } from "./connection";
import { NO_FAULTS, faultsOf } from "./faults";
import * as forms from "./form";
import { useSaveSettings } from "./queries/settings";
import type { AiSettings, CatalogueModel } from "./types";

/** The settings with what was typed over them; nothing typed is lost before it is saved. */
export function useSettingsForm(
  settings: AiSettings,
  models: CatalogueModel[],
  onSaved: () => void,
) {
  const [edits, setEdits] = useState(forms.NO_EDITS);
  const save = useSaveSettings();
  const patch = forms.patchOf(settings, edits, models);
  const badNumbers = forms.badNumbers(settings, edits);
  const faults = save.isError ? faultsOf(save.error, save.variables, patch) : NO_FAULTS;

  async function submit() {
    if (badNumbers.length > 0) return;
    try {
      await save.mutateAsync(patch);
    } catch {
      return; // `faults` says why; the form stays as it is
    }
    // What was typed while the save was under way is still to be saved.
    setEdits((now) => (now === edits ? forms.NO_EDITS : now));
    onSaved();
  }

  return {
    settings,
    models,
    values: forms.valuesOf(settings, edits),
    setValues: (change: Partial<forms.Values>) => setEdits((now) => forms.setValues(now, change)),
    connection: (part: Part) => forms.connection(settings, edits, part, models),
    chooseDriver: (part: Part, driver: string) =>
      setEdits((now) => forms.chooseDriver(now, part, driver)),
    type: (part: Part, driver: string, change: Typed) =>
      setEdits((now) => forms.type(now, part, driver, change)),
    testBody: (part: Part) => forms.testOf(settings, edits, part, models),
    dirty: Object.keys(patch).length > 0 || badNumbers.length > 0,
    badNumbers,
    faults,
    saving: save.isPending,
    submit: () => void submit(),
    discard: () => {
      setEdits(forms.NO_EDITS);
      save.reset();
    },
  };
}

export type SettingsForm = ReturnType<typeof useSettingsForm>;
