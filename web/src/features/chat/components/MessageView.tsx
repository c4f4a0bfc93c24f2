import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { foldParts } from "../lib/foldParts";
import type { ChatMessage } from "../types";
import { AnswerSegment } from "./AnswerSegment";
import { MessageEnd } from "./MessageEnd";
import { Sources } from "./Sources";
import { UserMessage } from "./UserMessage";

/** What can be done with a message; the same functions as long as the chat is open. */
export interface MessageActions {
  edit: (message: ChatMessage, text: string) => void;
  regenerate: (messageId: string) => void;
  goOn: () => void;
  showVersion: (messageId: string) => void;
}

export interface MessageProps {
  message: ChatMessage;
  /** It is being written. */
  live: boolean;
  last: boolean;
  /** No answer is being written in this chat. */
  idle: boolean;
  actions: MessageActions;
}

export const MessageView = memo(function MessageView(props: MessageProps) {
  return props.message.role === "user" ? <UserMessage {...props} /> : <Answer {...props} />;
});

function Answer({ message, live, last, idle, actions }: MessageProps) {
  const { t } = useTranslation();
  const folded = useMemo(() => foldParts(message.parts, live), [message.parts, live]);
  return (
    <article className="message" data-role="assistant" aria-label={t("chat.agent")} aria-busy={live}>
      {folded.segments.map((segment) => (
        <AnswerSegment key={segment.key} segment={segment} />
      ))}
      <Sources sources={folded.sources} />
      {live ? null : <MessageEnd message={message} last={last} idle={idle} actions={actions} />}
    </article>
  );
}
