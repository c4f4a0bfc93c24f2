import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ErrorState, TextSkeleton } from "@/shared/ui/States";
import { useChatUi } from "../chatUi";
import { useChats } from "../queries/chats";
import { ChatListItem } from "./ChatListItem";

export function ChatList({ onOpen }: { onOpen: () => void }) {
  const { t } = useTranslation();
  const chats = useChats();
  const { active } = useChatUi();
  return (
    <nav className="chat-list" aria-label={t("chat.list")}>
      {chats.isPending ? <TextSkeleton /> : null}
      {chats.isError ? (
        <ErrorState error={chats.error} onRetry={() => void chats.refetch()} />
      ) : null}
      {chats.data?.length === 0 ? <p className="muted">{t("chat.noChats")}</p> : null}
      <ul>
        {chats.data?.map((chat) => (
          <ChatListItem
            key={chat.id}
            chat={chat}
            current={chat.id === active.chatId}
            onOpen={onOpen}
          />
        ))}
      </ul>
      {chats.hasNextPage ? (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={chats.isFetchingNextPage}
          onClick={() => void chats.fetchNextPage()}
        >
          {t("app.more")}
        </Button>
      ) : null}
    </nav>
  );
}
