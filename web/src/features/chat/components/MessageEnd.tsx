import { ActionIcon } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { CopyButton } from "@/shared/ui/CopyButton";
import { RefreshIcon } from "@/shared/ui/icons";
import { messageText } from "../lib/foldParts";
import type { ChatMessage } from "../types";

interface Props {
  message: ChatMessage;
  onRegenerate: (() => void) | undefined;
}

/** How an answer ended, what it took, and what can be done with it. */
export function MessageEnd({ message, onRegenerate }: Props) {
  const { t } = useTranslation();
  const metadata = message.metadata ?? {};
  const text = messageText(message);
  return (
    <footer className="message-end">
      {metadata.truncated ? <p className="message-note">{t("chat.truncated")}</p> : null}
      {metadata.status === "aborted" ? <p className="message-note">{t("chat.stopped")}</p> : null}
      {metadata.status === "error" ? (
        <p className="message-note" data-bad>
          {t("chatError.answer")}
          {metadata.error ? `: ${metadata.error}` : ""}
        </p>
      ) : null}
      <div className="message-actions">
        {text === "" ? null : <CopyButton text={text} label={t("chat.copyAnswer")} />}
        {onRegenerate ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={t("chat.regenerate")}
            title={t("chat.regenerate")}
            onClick={onRegenerate}
          >
            <RefreshIcon size={15} />
          </ActionIcon>
        ) : null}
        <Usage metadata={metadata} />
      </div>
    </footer>
  );
}

function Usage({ metadata }: { metadata: NonNullable<ChatMessage["metadata"]> }) {
  const { t, i18n } = useTranslation();
  const { model, inputTokens, outputTokens, timeMs } = metadata;
  if (inputTokens === undefined || outputTokens === undefined) return null;
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const usage = t("chat.usage", {
    input: number.format(inputTokens),
    output: number.format(outputTokens),
    seconds: number.format((timeMs ?? 0) / 1000),
  });
  return (
    <span className="usage" title={usage}>
      {model ?? usage}
    </span>
  );
}
