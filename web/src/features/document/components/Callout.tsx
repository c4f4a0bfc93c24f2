import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

const KINDS = ["info", "note", "tip", "success", "warning", "danger"] as const;

function kindOf(name: string | undefined): (typeof KINDS)[number] {
  return KINDS.find((kind) => kind === name) ?? "info";
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
