import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { foldParts, messageText } from "../lib/foldParts";
import type { ChatMessage } from "../types";
import { AnswerSegment } from "./AnswerSegment";
import { MessageEnd } from "./MessageEnd";
import { Sources } from "./Sources";

interface Props {
  message: ChatMessage;
  live: boolean;
  onRegenerate: (() => void) | undefined;
}

export const MessageView = memo(function MessageView({ message, live, onRegenerate }: Props) {
  const { t } = useTranslation();
  const folded = useMemo(() => foldParts(message.parts, live), [message.parts, live]);
  if (message.role === "user") {
    return (
      <article className="message" data-role="user" aria-label={t("chat.you")}>
        <p>{messageText(message)}</p>
      </article>
    );
  }
  return (
    <article className="message" data-role="assistant" aria-label={t("chat.agent")} aria-busy={live}>
      {folded.segments.map((segment) => (
        <AnswerSegment key={segment.key} segment={segment} />
      ))}
      <Sources sources={folded.sources} />
      {live ? null : <MessageEnd message={message} onRegenerate={onRegenerate} />}
    </article>
  );
});
