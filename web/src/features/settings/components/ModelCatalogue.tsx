import { ActionIcon, Button, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PencilIcon, PlusIcon, TrashIcon } from "@/shared/ui/icons";
import { ErrorState, TextSkeleton, messageOf } from "@/shared/ui/States";
import { useNames } from "../names";
import { useRemoveModel, useSaveModel } from "../queries/settings";
import type { CatalogueModel } from "../types";
import { ModelDialog } from "./ModelDialog";

const UNDO_MS = 10_000;

interface Props {
  drivers: string[];
  /** Undefined while they are loaded, and when that failed. */
  models: CatalogueModel[] | undefined;
  error: unknown;
  onRetry: () => void;
}

/** The models that the workspace knows: what they cost, and which of them people may choose. */
export function ModelCatalogue({ drivers, models, error, onRetry }: Props) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState<CatalogueModel | "new" | null>(null);
  return (
    <section className="settings-section catalogue" aria-label={t("settings.catalogue")}>
      <div className="row section-head">
        <h2>{t("settings.catalogue")}</h2>
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<PlusIcon size={14} />}
          onClick={() => setEditing("new")}
        >
          {t("settings.addModel")}
        </Button>
      </div>
      <p className="muted">
        {t("settings.catalogueLead")} {t("settings.catalogueHint")}
      </p>
      {models ? (
        <ModelTable models={models} onEdit={setEditing} />
      ) : error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <TextSkeleton lines={3} />
      )}
      <ModelDialog item={editing} drivers={drivers} onClose={() => setEditing(null)} />
    </section>
  );
}

interface TableProps {
  models: CatalogueModel[];
  onEdit: (item: CatalogueModel) => void;
}

function ModelTable({ models, onEdit }: TableProps) {
  const { t } = useTranslation();
  if (models.length === 0) return <p className="muted">{t("settings.noModels")}</p>;
  return (
    <div className="table-scroll" role="group" tabIndex={0} aria-label={t("settings.catalogue")}>
      <table className="model-table">
        <thead>
          <tr>
            <th scope="col">{t("settings.column.model")}</th>
            <th scope="col" className="number">{t("settings.column.inputPrice")}</th>
            <th scope="col" className="number">{t("settings.column.outputPrice")}</th>
            <th scope="col" className="number">{t("settings.column.contextWindow")}</th>
            <th scope="col">{t("settings.column.allowed")}</th>
            <th scope="col">
              <span className="visually-hidden">{t("app.actions")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((item) => (
            <ModelRow key={`${item.driver} ${item.model}`} item={item} onEdit={onEdit} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ModelRow({ item, onEdit }: { item: CatalogueModel; onEdit: TableProps["onEdit"] }) {
  const { t, i18n } = useTranslation();
  const names = useNames();
  const save = useSaveModel();
  const remove = useRemoveWithUndo(item);
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 6 });
  const shown = (value: number | null) => (value === null ? "–" : number.format(value));
  return (
    <tr>
      <th scope="row">
        {item.model}
        <span className="model-driver">{names.driver(item.driver)}</span>
      </th>
      <td className="number">{shown(item.inputPrice)}</td>
      <td className="number">{shown(item.outputPrice)}</td>
      <td className="number">{shown(item.contextWindow)}</td>
      <td>
        <Switch
          aria-label={t("settings.allowModel", { model: item.model })}
          checked={save.isPending ? save.variables.allowed : item.allowed}
          onChange={(event) =>
            save.mutate({ ...item, allowed: event.currentTarget.checked }, { onError: notifyFailure })
          }
        />
      </td>
      <td>
        <div className="row model-actions">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("settings.editModel", { model: item.model })}
            onClick={() => onEdit(item)}
          >
            <PencilIcon size={15} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("settings.removeModel", { model: item.model })}
            onClick={remove}
          >
            <TrashIcon size={15} />
          </ActionIcon>
        </div>
      </td>
    </tr>
  );
}

function notifyFailure(error: unknown) {
  notifications.show({ color: "red", message: messageOf(error) });
}

function useRemoveWithUndo(item: CatalogueModel) {
  const { t } = useTranslation();
  const remove = useRemoveModel();
  const restore = useSaveModel();
  return () => {
    const notice = `model-${item.driver}-${item.model}`;
    const undo = () => {
      notifications.hide(notice);
      restore.mutate(item, { onError: notifyFailure });
    };
    remove.mutateAsync(item).then(
      () =>
        notifications.show({
          id: notice,
          autoClose: UNDO_MS,
          message: (
            <div className="notice-row">
              <span>{t("settings.modelRemoved", { model: item.model })}</span>
              <Button size="compact-sm" variant="light" onClick={undo}>
                {t("page.undo")}
              </Button>
            </div>
          ),
        }),
      notifyFailure,
    );
  };
}
