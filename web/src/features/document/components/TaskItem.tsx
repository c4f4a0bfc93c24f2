import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

interface Props {
  id: string | undefined;
  checked: boolean;
  children: ReactNode;
}

export function TaskItem({ id, checked, children }: Props) {
  const { t } = useTranslation();
  return (
    <li id={id} className="task-item" data-checked={checked || undefined}>
      <input
        type="checkbox"
        checked={checked}
        disabled
        readOnly
        aria-label={checked ? t("page.done") : t("page.notDone")}
      />
      <div>{children}</div>
    </li>
  );
}
