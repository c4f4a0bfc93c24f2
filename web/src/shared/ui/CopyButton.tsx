import { ActionIcon } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { CheckIcon, CopyIcon } from "./icons";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation();
  const clipboard = useClipboard({ timeout: 1500 });
  const name = clipboard.copied ? t("app.copied") : label;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={name}
      title={name}
      onClick={() => clipboard.copy(text)}
    >
      {clipboard.copied ? <CheckIcon size={15} /> : <CopyIcon size={15} />}
    </ActionIcon>
  );
}
