import { ActionIcon } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useCallback, useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { DownIcon } from "@/shared/ui/icons";
import { messageOf } from "@/shared/ui/States";
import { type ActiveChat, takePrompt, useChatUi } from "../chatUi";
import { useAnnouncer } from "../hooks/useAnnouncer";
import { type Conversation as Chat, useConversation } from "../hooks/useConversation";
import { type FollowScroll, useFollowScroll } from "../hooks/useFollowScroll";
import { useQueueTexts } from "../hooks/useQueueTexts";
import { useQuiet } from "../hooks/useQuiet";
import { messageText } from "../lib/foldParts";
import { viewKey } from "../lib/stored";
import type { ChatMessage } from "../types";
import { ChatNotice } from "./ChatNotice";
import { EmptyChat } from "./EmptyChat";
import { MessageView } from "./MessageView";
import { PromptInput } from "./PromptInput";
import { QueuedMessages } from "./QueuedMessages";
import { Thinking } from "./Thinking";

interface Props {
  active: ActiveChat;
  /** The stored messages; null for a chat that the server does not know yet. */
  initial: ChatMessage[] | null;
}

export function Conversation({ active, initial }: Props) {
  const { t } = useTranslation();
  const { prompt } = useChatUi();
  const chat = useConversation(active, initial);
  const scroll = useFollowScroll();
  const last = chat.messages.at(-1);
  const answer = last?.role === "assistant" ? last : undefined;
  const live = chat.busy || answer?.metadata?.status === "streaming";
  const quiet = useQuiet(answer, live);
  const waiting = quiet && endsInText(answer);
  const idle = !live && chat.connection !== "reconnecting";
  const actions = useMessageActions(chat, scroll);
  const onQueue = useEnqueue(chat.queueing.add);
  const goesOn = chat.busy || chat.connection === "reconnecting";
  const announced = useAnnouncer(answer ? messageText(answer) : "", goesOn, t("chat.answered"));

  useEffect(() => {
    if (prompt === null) return;
    takePrompt();
    chat.actions.send(prompt);
    // A question is taken once, whatever the chat's functions are by then.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [prompt]);

  return (
    <div className="conversation">
      <div className="conversation-scroll" ref={scroll.box} onScroll={scroll.onScroll}>
        <div className="conversation-content" ref={scroll.content}>
          {chat.messages.length === 0 && !chat.busy ? <EmptyChat onAsk={actions.send} /> : null}
          <div role="log" aria-live="off" aria-label={t("chat.log")} className="messages">
            {chat.messages.map((message) => (
              <MessageView
                key={viewKey(message)}
                message={message}
                live={live && message === last}
                last={message === last}
                idle={idle}
                actions={actions}
              />
            ))}
            {live && (waiting || !moves(answer)) ? <Thinking waiting={waiting} /> : null}
          </div>
          <ChatNotice chat={chat} />
        </div>
      </div>
      <div className="to-end">
        {scroll.atEnd ? null : (
          <ActionIcon
            radius="xl"
            variant="default"
            aria-label={t("chat.latest")}
            title={t("chat.latest")}
            onClick={scroll.toEnd}
          >
            <DownIcon size={16} />
          </ActionIcon>
        )}
      </div>
      <div className="visually-hidden" role="status" aria-live="polite">
        {announced}
      </div>
      <QueuedMessages queueing={chat.queueing} busy={chat.busy} />
      <PromptInput
        busy={chat.busy}
        stopping={chat.stopping}
        waits={chat.queueing.waits}
        onSend={actions.send}
        onQueue={onQueue}
        onStop={chat.stop}
      />
    </div>
  );
}

/** The same functions as long as the chat's are: a message that did not change is not drawn again. */
function useMessageActions(chat: Chat, { toEnd, hold }: FollowScroll) {
  const { t } = useTranslation();
  const { send, edit, regenerate, goOn, showVersion } = chat.actions;
  return useMemo(() => {
    const following = <A extends unknown[]>(act: (...args: A) => void) => (...args: A) => {
      toEnd();
      act(...args);
    };
    return {
      send: following(send),
      edit: following(edit),
      regenerate: following(regenerate),
      goOn: following(goOn),
      showVersion: (messageId: string) => {
        hold();
        showVersion(messageId).catch((error: unknown) =>
          notifications.show({ color: "red", title: t("app.error"), message: messageOf(error) }),
        );
      },
    };
  }, [send, edit, regenerate, goOn, showVersion, toEnd, hold, t]);
}

/** Lets a message wait; false, and why is shown, when it cannot. */
function useEnqueue(add: (text: string) => Promise<void>) {
  const { t } = useTranslation();
  const { failure } = useQueueTexts();
  return useCallback(
    async (text: string): Promise<boolean> => {
      try {
        await add(text);
        return true;
      } catch (error) {
        notifications.show({ color: "red", title: t("chat.queue.refused"), message: failure(error) });
        return false;
      }
    },
    [add, failure, t],
  );
}

const endOf = (answer: ChatMessage | undefined) =>
  answer?.parts.findLast(({ type }) => type !== "step-start");

function endsInText(answer: ChatMessage | undefined): boolean {
  const part = endOf(answer);
  return (part?.type === "text" || part?.type === "reasoning") && part.text !== "";
}

/** Something of the answer can be read, or is moving, at its end. */
function moves(answer: ChatMessage | undefined): boolean {
  const part = endOf(answer);
  if (endsInText(answer) || part === undefined || !("state" in part)) return endsInText(answer);
  return part.state === "input-streaming" || part.state === "input-available";
}
