import { ActionIcon, Badge, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { timeAgo } from "@/shared/lib/time";
import { DotsIcon, PageIcon, PencilIcon, TrashIcon } from "@/shared/ui/icons";
import { messageOf } from "@/shared/ui/States";
import { chatUi, newChat, openChat } from "../chatUi";
import { useDeleteChat, useChangeChat } from "../queries/chats";
import type { ChatSummary } from "../types";
import { RenameField } from "./RenameField";

interface Props {
  chat: ChatSummary;
  current: boolean;
  onOpen: () => void;
}

export function ChatListItem({ chat, current, onOpen }: Props) {
  const { t, i18n } = useTranslation();
  const [renaming, setRenaming] = useState(false);
  const rename = useChangeChat();
  const remove = useDeleteChat();
  const title = chat.title || t("chat.untitled");

  function failed(error: Error) {
    notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) });
  }

  function saveTitle(next: string | null) {
    setRenaming(false);
    if (next !== null) rename.mutate({ id: chat.id, title: next }, { onError: failed });
  }

  function deleteChat() {
    remove.mutate(chat.id, {
      onError: failed,
      onSuccess: () => {
        if (chatUi().active.chatId === chat.id) newChat();
        notifications.show({ message: t("chat.deleted") });
      },
    });
  }

  if (renaming) {
    return (
      <li>
        <RenameField title={chat.title} onDone={saveTitle} />
      </li>
    );
  }
  return (
    <li className="chat-item" data-current={current || undefined}>
      <button
        type="button"
        className="chat-item-open"
        aria-current={current || undefined}
        onClick={() => {
          openChat(chat.id);
          onOpen();
        }}
      >
        <span className="chat-item-title">{title}</span>
        <span className="chat-item-time">
          {timeAgo(chat.updatedAt, i18n.language)}
          {chat.roleBadge ? (
            <Badge size="xs" variant="light">
              {chat.roleBadge}
            </Badge>
          ) : null}
        </span>
      </button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            className="row-action"
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`${t("app.actions")}: ${title}`}
          >
            <DotsIcon size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {chat.pageId === null ? null : (
            <Menu.Item
              component={Link}
              to={`/p/${encodeURIComponent(chat.pageId)}`}
              leftSection={<PageIcon size={15} />}
            >
              {t("chat.originPage")}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<PencilIcon size={15} />} onClick={() => setRenaming(true)}>
            {t("chat.rename")}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<TrashIcon size={15} />} onClick={deleteChat}>
            {t("chat.delete")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </li>
  );
}
