import { Badge } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { openChat } from "@/features/chat/chatUi";
import { dateTime, timeAgo } from "@/shared/lib/time";
import { SparkIcon } from "@/shared/ui/icons";
import type { Page } from "../types";

/** When the page changed, and whether the agent's hand did it. */
export function PageMeta({ page }: { page: Page }) {
  const { t, i18n } = useTranslation();
  const chatId = page.lastUpdatedAiChatId;
  return (
    <div className="page-meta">
      <time dateTime={page.updatedAt} title={dateTime(page.updatedAt, i18n.language)}>
        {t("page.updated", { when: timeAgo(page.updatedAt, i18n.language) })}
      </time>
      {page.lastUpdatedSource === "agent" ? (
        <Badge
          variant="light"
          color="grape"
          leftSection={<SparkIcon size={11} />}
          title={t("page.agentEditedHint")}
        >
          {t("page.agentEdited")}
        </Badge>
      ) : null}
      {page.lastUpdatedSource === "agent" && chatId ? (
        <button type="button" className="text-button" onClick={() => openChat(chatId)}>
          {t("page.openChat")}
        </button>
      ) : null}
    </div>
  );
}
