import { ActionIcon } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ChevronIcon } from "@/shared/ui/icons";
import type { Branch } from "../types";

interface Props {
  branch: Branch;
  disabled: boolean;
  onShow: (messageId: string) => void;
}

/** "2 / 3": the versions of a message, one of which is shown with all that follows it. */
export function VersionSwitch({ branch: { index, ids }, disabled, onShow }: Props) {
  const { t } = useTranslation();
  const button = { variant: "subtle", color: "gray", size: "sm" } as const;
  const of = { index: index + 1, count: ids.length };
  const step = (to: number, label: string, className: string) => (
    <ActionIcon
      {...button}
      className={className}
      aria-label={label}
      title={label}
      // Stays in the order of focus at either end.
      aria-disabled={disabled || ids[to] === undefined}
      data-disabled={disabled || ids[to] === undefined || undefined}
      onClick={() => {
        const id = ids[to];
        if (id !== undefined && !disabled) onShow(id);
      }}
    >
      <ChevronIcon size={14} />
    </ActionIcon>
  );
  return (
    <span className="versions" role="group" aria-label={t("chat.version", of)}>
      {step(index - 1, t("chat.versionBefore"), "version-before")}
      <span aria-live="polite">
        <span aria-hidden="true">{`${of.index} / ${of.count}`}</span>
        <span className="visually-hidden">{t("chat.version", of)}</span>
      </span>
      {step(index + 1, t("chat.versionAfter"), "version-after")}
    </span>
  );
}
