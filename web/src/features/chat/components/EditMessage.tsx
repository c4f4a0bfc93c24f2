import { Button, Textarea } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { isSendKey } from "../lib/sendKey";

interface Props {
  text: string;
  /** The new text, or null when it stays as it was. */
  onDone: (text: string | null) => void;
}

/** A message of one's own, being put in other words. */
export function EditMessage({ text: before, onDone }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(before);
  const ready = text.trim() !== "";

  function send() {
    if (!ready) return;
    const next = text.trim();
    onDone(next === before.trim() ? null : next);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.key === "Escape" && !event.nativeEvent.isComposing) {
      event.stopPropagation();
      onDone(null);
    }
    if (!isSendKey(event.nativeEvent)) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className="edit-message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Textarea
        aria-label={t("chat.editLabel")}
        autosize
        minRows={1}
        maxRows={12}
        autoFocus
        value={text}
        onFocus={(event) => {
          const end = event.currentTarget.value.length;
          event.currentTarget.setSelectionRange(end, end);
        }}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div className="edit-actions">
        <span className="muted">{t("chat.editHint")}</span>
        <Button size="compact-sm" variant="default" onClick={() => onDone(null)}>
          {t("app.cancel")}
        </Button>
        <Button size="compact-sm" type="submit" disabled={!ready}>
          {t("chat.send")}
        </Button>
      </div>
    </form>
  );
}
