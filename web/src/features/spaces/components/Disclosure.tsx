import { UnstyledButton } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ChevronIcon } from "@/shared/ui/icons";
import { setNodeOpen } from "../openNodes";

interface Props {
  id: string;
  title: string;
  open: boolean;
}

export function Disclosure({ id, title, open }: Props) {
  const { t } = useTranslation();
  return (
    <UnstyledButton
      className="disclosure"
      data-open={open || undefined}
      aria-expanded={open}
      aria-label={open ? t("tree.collapse", { title }) : t("tree.expand", { title })}
      onClick={() => setNodeOpen(id, !open)}
    >
      <ChevronIcon size={14} />
    </UnstyledButton>
  );
}
