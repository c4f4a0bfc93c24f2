import { ActionIcon, Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { CopyButton } from "@/shared/ui/CopyButton";
import { RefreshIcon } from "@/shared/ui/icons";
import { storedError } from "../lib/chatErrors";
import { messageText } from "../lib/foldParts";
import type { MessageMetadata } from "../types";
import type { MessageProps } from "./MessageView";
import { PageActions } from "./PageActions";
import { Usage } from "./Usage";
import { VersionSwitch } from "./VersionSwitch";

type Props = Omit<MessageProps, "live">;

/** How an answer ended, what it did and took, and what can be done with it. */
export function MessageEnd({ message, last, idle, actions }: Props) {
  const { t } = useTranslation();
  const metadata = message.metadata ?? {};
  const text = messageText(message);
  return (
    <footer className="message-end">
      <PageActions title={t("chat.changes")} actions={metadata.changes ?? []} />
      <HowItEnded metadata={metadata} last={last} onContinue={idle ? actions.goOn : undefined} />
      <div className="message-actions">
        {text === "" ? null : <CopyButton text={text} label={t("chat.copyAnswer")} />}
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          disabled={!idle}
          aria-label={t("chat.regenerate")}
          title={t("chat.regenerate")}
          onClick={() => actions.regenerate(message.id)}
        >
          <RefreshIcon size={15} />
        </ActionIcon>
        {metadata.branch ? (
          <VersionSwitch branch={metadata.branch} disabled={!idle} onShow={actions.showVersion} />
        ) : null}
        <Usage metadata={metadata} />
      </div>
      <PageActions title={t("chat.hiddenChanges")} actions={metadata.hiddenChanges ?? []} />
    </footer>
  );
}

const STOPPED = {
  asked: "chat.stopped",
  interrupted: "chat.stoppedForNext",
  unattended: "chat.stoppedUnattended",
} as const;

interface EndProps {
  metadata: MessageMetadata;
  last: boolean;
  onContinue: (() => void) | undefined;
}

function HowItEnded({ metadata, last, onContinue }: EndProps) {
  const { t } = useTranslation();
  const failure = storedError(metadata);
  return (
    <>
      {metadata.finishReason === "content-filter" ? (
        <p className="message-note">{t("chat.filtered")}</p>
      ) : null}
      {metadata.truncated ? (
        <p className="message-note">
          {t("chat.truncated")}{" "}
          {last && onContinue ? (
            <Button size="compact-xs" variant="light" onClick={onContinue}>
              {t("chat.continue")}
            </Button>
          ) : null}
        </p>
      ) : null}
      {metadata.status === "aborted" ? (
        <p className="message-note">{t(STOPPED[metadata.stopReason ?? "asked"])}</p>
      ) : null}
      {/* The last answer's failure stands below it, with what can be done. */}
      {failure && !last ? (
        <p className="message-note" data-bad>
          {t(`chatError.${failure.kind}.title`)}
        </p>
      ) : null}
    </>
  );
}
