import { ActionIcon } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CloseIcon, ExpandIcon, ListIcon, PlusIcon } from "@/shared/ui/icons";
import { hideChat, newChat, useChatUi } from "../chatUi";
import { chatPath } from "../hooks/useChatRoute";
import { useChatSummary } from "../queries/chats";

interface Props {
  asPage: boolean;
  listOpen: boolean;
  onToggleList: () => void;
  onNew: () => void;
}

export function ChatHeader({ asPage, listOpen, onToggleList, onNew }: Props) {
  const { t } = useTranslation();
  const { active } = useChatUi();
  const title = useChatSummary(active.chatId)?.title;
  const Title = asPage ? "h1" : "h2";
  const button = { variant: "subtle", color: "gray" } as const;
  return (
    <header className="chat-head">
      <ActionIcon
        {...button}
        className="chat-list-toggle"
        aria-label={t("chat.list")}
        title={t("chat.list")}
        aria-expanded={listOpen}
        onClick={onToggleList}
      >
        <ListIcon />
      </ActionIcon>
      <Title className="chat-title" title={title}>
        {title || t("chat.untitled")}
      </Title>
      <ActionIcon
        {...button}
        aria-label={t("chat.new")}
        title={t("chat.new")}
        onClick={() => {
          newChat();
          onNew();
        }}
      >
        <PlusIcon />
      </ActionIcon>
      {asPage ? null : (
        <>
          <ActionIcon
            {...button}
            component={Link}
            to={chatPath(active.chatId)}
            aria-label={t("chat.fullPage")}
            title={t("chat.fullPage")}
          >
            <ExpandIcon size={16} />
          </ActionIcon>
          <ActionIcon
            {...button}
            aria-label={t("chat.close")}
            title={t("chat.close")}
            onClick={hideChat}
          >
            <CloseIcon />
          </ActionIcon>
        </>
      )}
    </header>
  );
}
