import { Badge, Tooltip } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { SparkIcon } from "@/shared/ui/icons";
import type { AiChat, Author } from "../types";

interface Props {
  author: Author | null | undefined;
  aiChat: AiChat | null | undefined;
}

/** The agent wrote as the person who asked; for that person it leads to the chat. */
export function AgentBadge({ author, aiChat }: Props) {
  const { t } = useTranslation();
  const hint = author
    ? t("history.askedAgent", { name: author.name })
    : t("history.somebodyAskedAgent");
  const look = {
    variant: "light",
    color: "grape",
    className: "agent-badge",
    leftSection: <SparkIcon size={11} />,
  } as const;
  const chatId = aiChat?.mine ? aiChat.id : null;
  return (
    <Tooltip label={hint} events={{ hover: true, focus: true, touch: true }}>
      {chatId === null ? (
        <Badge {...look}>
          {t("history.agent")}
          <span className="visually-hidden">, {hint}</span>
        </Badge>
      ) : (
        <Badge {...look} component={Link} to={`/chat/${encodeURIComponent(chatId)}`}>
          {t("history.agent")}
          <span className="visually-hidden">, {t("history.openChat")}</span>
        </Badge>
      )}
    </Tooltip>
  );
}
