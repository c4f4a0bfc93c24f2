import { ActionIcon, Textarea } from "@mantine/core";
import { type KeyboardEvent, memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { PageIcon, SendIcon, StopIcon } from "@/shared/ui/icons";
import { useChatUi } from "../chatUi";
import { isSendKey } from "../lib/sendKey";
import { ModelSelect } from "./ModelSelect";
import { TokenCount } from "./TokenCount";

interface Props {
  busy: boolean;
  stopping: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

/** Drawn apart from the answer: a text area that fits its text measures itself each time. */
export const PromptInput = memo(function PromptInput({ busy, stopping, onSend, onStop }: Props) {
  const { t } = useTranslation();
  const { page, focus } = useChatUi();
  const [text, setText] = useState("");
  const ready = text.trim() !== "" && !busy;

  function send() {
    if (!ready) return;
    setText("");
    onSend(text.trim());
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (!isSendKey(event.nativeEvent)) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className="prompt"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {page === null ? null : (
        <p className="prompt-page">
          <PageIcon size={13} />
          <span>{t("chat.aboutPage", { title: page.title })}</span>
        </p>
      )}
      <div className="prompt-box">
        <Textarea
          variant="unstyled"
          aria-label={t("chat.input")}
          placeholder={t("chat.placeholder")}
          autosize
          minRows={1}
          maxRows={10}
          autoFocus={focus}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {busy ? (
          <ActionIcon
            radius="xl"
            size="lg"
            color="gray"
            variant="filled"
            loading={stopping}
            aria-label={stopping ? t("chat.stopping") : t("chat.stop")}
            title={t("chat.stop")}
            onClick={onStop}
          >
            <StopIcon />
          </ActionIcon>
        ) : (
          <ActionIcon
            type="submit"
            radius="xl"
            size="lg"
            variant="filled"
            disabled={!ready}
            aria-label={t("chat.send")}
            title={t("chat.send")}
          >
            <SendIcon />
          </ActionIcon>
        )}
      </div>
      <div className="prompt-note">
        <ModelSelect />
        <span className="prompt-hint">{t("chat.hint")}</span>
        <TokenCount />
      </div>
    </form>
  );
});
