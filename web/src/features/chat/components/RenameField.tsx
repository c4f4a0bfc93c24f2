import { TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface Props {
  title: string;
  /** The new title, or null when it stays as it was. */
  onDone: (title: string | null) => void;
}

export function RenameField({ title, onDone }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(title);
  const done = useRef(false);

  function finish(save: boolean) {
    // Enter is followed by a blur, which must not save a second time.
    if (done.current) return;
    done.current = true;
    const next = text.trim();
    onDone(save && next !== "" && next !== title ? next : null);
  }

  return (
    <TextInput
      size="xs"
      aria-label={t("chat.renameLabel")}
      autoFocus
      maxLength={255}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
      }}
    />
  );
}
