import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

const KINDS = { info: "info", success: "success", warning: "warning", danger: "danger" } as const;

function kindOf(name: string | undefined): keyof typeof KINDS {
  if (name === "error") return "danger";
  return name !== undefined && name in KINDS ? (name as keyof typeof KINDS) : "info";
}

interface Props {
  id: string | undefined;
  kind: string | undefined;
  children: ReactNode;
}

export function Callout({ id, kind, children }: Props) {
  const { t } = useTranslation();
  const known = kindOf(kind);
  return (
    <div id={id} className="callout" data-kind={known} role="note" aria-label={t(`callout.${known}`)}>
      {children}
    </div>
  );
}
