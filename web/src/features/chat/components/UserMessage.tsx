import { ActionIcon } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PencilIcon } from "@/shared/ui/icons";
import { messageText } from "../lib/foldParts";
import { EditMessage } from "./EditMessage";
import type { MessageProps } from "./MessageView";
import { PageActions } from "./PageActions";
import { VersionSwitch } from "./VersionSwitch";

export function UserMessage({ message, idle, actions }: MessageProps) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  const text = messageText(message);
  const { branch, hiddenChanges = [] } = message.metadata ?? {};

  useEffect(() => {
    if (wasEditing.current && !editing) pencil.current?.focus();
    wasEditing.current = editing;
  }, [editing]);
  // Another version is shown in this place.
  useEffect(() => setEditing(false), [message.id]);

  if (editing && idle) {
    return (
      <article className="message" data-role="user" data-editing aria-label={t("chat.you")}>
        <EditMessage
          text={text}
          onDone={(next) => {
            setEditing(false);
            if (next !== null) actions.edit(message, next);
          }}
        />
      </article>
    );
  }
  return (
    <article className="message" data-role="user" aria-label={t("chat.you")}>
      <div className="bubble-row">
        <ActionIcon
          ref={pencil}
          className="row-action"
          variant="subtle"
          color="gray"
          size="sm"
          disabled={!idle}
          aria-label={t("chat.edit")}
          title={t("chat.edit")}
          onClick={() => setEditing(true)}
        >
          <PencilIcon size={14} />
        </ActionIcon>
        <p>{text}</p>
      </div>
      {branch ? (
        <VersionSwitch branch={branch} disabled={!idle} onShow={actions.showVersion} />
      ) : null}
      <PageActions title={t("chat.hiddenChanges")} actions={hiddenChanges} />
    </article>
  );
}
