import { Alert, Button, Loader } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { AlertIcon } from "@/shared/ui/icons";
import type { Conversation } from "../hooks/useConversation";
import { NO_CONNECTION } from "../lib/chatErrors";
import { Failure } from "./Failure";

/** What stands between the reader and the answer, and what can be done about it. */
export function ChatNotice({ chat }: { chat: Conversation }) {
  const { t } = useTranslation();
  if (chat.connection === "reconnecting") {
    return (
      <p className="chat-notice" role="status">
        <Loader size={14} /> {t("chat.interrupted")} {t("chat.reconnecting")}
      </p>
    );
  }
  if (chat.connection === "lost") {
    return (
      <Alert color="orange" role="alert" icon={<AlertIcon />} title={t("chat.interrupted")}>
        <Button size="compact-sm" variant="filled" color="orange" onClick={chat.reconnect}>
          {t("chat.reconnect")}
        </Button>
      </Alert>
    );
  }
  if (chat.connection === "unsent") return <Failure failure={NO_CONNECTION} onRetry={chat.retry} />;
  if (chat.failure === null) return null;
  return <Failure failure={chat.failure} onRetry={chat.retry} />;
}
