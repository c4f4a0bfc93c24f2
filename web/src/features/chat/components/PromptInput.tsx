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
  /** A new message waits for what is being answered. */
  waits: boolean;
  onSend: (text: string) => void;
  /** False when the message could not be let wait. */
  onQueue: (text: string) => Promise<boolean>;
  onStop: () => void;
}

/** Drawn apart from the answer: a text area that fits its text measures itself each time. */
export const PromptInput = memo(function PromptInput(props: Props) {
  const { busy, stopping, waits, onSend, onQueue, onStop } = props;
  const { t } = useTranslation();
  const { page, focus } = useChatUi();
  const [text, setText] = useState("");
  const ready = text.trim() !== "" && (waits || !busy);

  function send() {
    if (!ready) return;
    const words = text.trim();
    setText("");
    if (waits) void onQueue(words).then((done) => done || setText((typed) => joined(words, typed)));
    else onSend(words);
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
        {busy && !ready ? null : (
          <ActionIcon
            type="submit"
            radius="xl"
            size="lg"
            variant="filled"
            disabled={!ready}
            aria-label={waits ? t("chat.queue.add") : t("chat.send")}
            title={waits ? t("chat.queue.add") : t("chat.send")}
          >
            <SendIcon />
          </ActionIcon>
        )}
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
        ) : null}
      </div>
      <div className="prompt-note">
        <ModelSelect />
        <span className="prompt-hint">{t("chat.hint")}</span>
        <TokenCount />
      </div>
    </form>
  );
});

/** A message that came back, with what was typed since. */
const joined = (words: string, typed: string) => (typed === "" ? words : `${words}\n${typed}`);
