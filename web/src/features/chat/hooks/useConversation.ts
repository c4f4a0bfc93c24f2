import { useChat } from "@ai-sdk/react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type ActiveChat, adoptChat, chatUi, chooseModel } from "../chatUi";
import { readChatError, storedError } from "../lib/chatErrors";
import { countUserMessages } from "../lib/stored";
import { chatTransport } from "../lib/transport";
import { CHATS_KEY } from "../queries/chats";
import { MODELS_KEY } from "../queries/models";
import type { ChatMessage } from "../types";
import { useAfterTurn } from "./useAfterTurn";
import { useElsewhere } from "./useElsewhere";
import { useFollow } from "./useFollow";
import { useQueueing } from "./useQueueing";
import { type Connection, type Ending, useReconnect } from "./useReconnect";
import { type Request, useSending } from "./useSending";
import { useStop } from "./useStop";
import { useStoredMessages } from "./useStoredMessages";

const RENDER_MS = 60; // the text is drawn at most this often while it streams in

/** A chat as its view needs it: the SDK's `useChat` with reconnecting, stopping and retrying. */
export function useConversation(active: ActiveChat, initial: ChatMessage[] | null) {
  // A chat that the server does not know has nothing to resume.
  const [resume] = useState(initial !== null);
  const shown = useRef(active);
  shown.current = active;
  const address = () => shown.current.chatId ?? shown.current.key;
  const transport = useMemo(() => chatTransport(() => addressee(shown.current)), []);
  const ending = useRef<Ending>({ kind: "none", status: null });
  const last = useRef<Request | null>(null);
  const afterTurn = useAfterTurn();

  const chat = useChat<ChatMessage>({
    id: active.key,
    messages: initial ?? [],
    transport,
    throttle: RENDER_MS,
    resume,
    onError: (error) => {
      ending.current = { kind: "error", status: statusOf(error) };
    },
    onFinish: ({ message, messages, isAbort, isDisconnect, isError, finishReason }) => {
      const brokeOff = isDisconnect || (!isError && finishReason === undefined);
      if (isAbort) ending.current = { kind: "aborted", status: null };
      else if (brokeOff) ending.current = { kind: "interrupted", status: null };
      else if (!isError) ending.current = { kind: "finished", status: null };
      if (finishReason === "interrupted") chat.setMessages(markStopped(message.id));
      if (brokeOff && !isAbort) reconnect.start();
      // A refused request has changed nothing that is stored.
      else if (ending.current.status === null) void stored.refresh().catch(() => {});
      afterTurn(message, countUserMessages(messages) === 1);
    },
  });

  const stored = useStoredMessages(chat, address);
  const sending = useSending({ chat, active: active.key, ending, last, stored });
  const reconnect = useReconnect({ chat, ending, last, stored, resend: sending.resend });
  const stop = useStop(chat, address);
  const follow = useFollow({ chat, ending, stored, reconnect: reconnect.start });
  const queueing = useQueueing({ chat, active, stored, follow });
  useAdoption(active.key, chat.messages);

  const busy = chat.status === "submitted" || chat.status === "streaming";
  const failure = useFailure(chat.error, chat.messages);
  useForgetModel(failure?.kind === "unknownModel");
  // A message that was not taken stands only here.
  const idle = !busy && reconnect.state === "live" && chat.error === undefined;
  useElsewhere(active.chatId, idle, follow);
  const actions = useMemo(() => {
    const calm = <A extends unknown[]>(act: (...args: A) => void) => (...args: A) => {
      reconnect.cancel();
      act(...args);
    };
    return {
      send: calm(sending.send),
      edit: calm(sending.edit),
      regenerate: calm(sending.regenerate),
      goOn: calm(sending.goOn),
      showVersion: stored.switchTo,
    };
  }, [reconnect, sending, stored]);

  const retry = () => {
    const unsent = reconnect.state === "unsent" || failure?.retry === "resend";
    const end = chat.messages.at(-1);
    reconnect.cancel();
    if (failure?.retry === "follow") reconnect.start();
    else if (!unsent) actions.regenerate(end?.role === "assistant" ? end.id : undefined);
    // Nothing was asked since the page was opened: what failed was following the answer.
    else if (!sending.again()) reconnect.start();
  };
  return {
    messages: chat.messages,
    busy,
    connection: busy ? ("live" as Connection) : reconnect.state,
    reconnect: reconnect.start,
    failure: reconnect.state === "live" && !busy ? failure : null,
    actions,
    retry,
    stop: stop.run,
    stopping: busy && stop.pending,
    queueing,
  };
}

export type Conversation = ReturnType<typeof useConversation>;

const addressee = ({ chatId, model }: ActiveChat) => ({
  chatId,
  model,
  pageId: chatUi().page?.id ?? null,
});

/** As the stored message will say it from now on. */
const markStopped = (id: string) => (messages: ChatMessage[]) =>
  messages.map((message): ChatMessage =>
    message.id === id
      ? { ...message, metadata: { ...message.metadata, status: "aborted" } }
      : message,
  );

function statusOf(error: Error): number | null {
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === "number" ? status : null;
}

/** Why the last request failed; after a reload, why the last answer did. */
function useFailure(error: Error | undefined, messages: ChatMessage[]) {
  const end = messages.at(-1);
  const answer = end?.role === "assistant" ? end.metadata : undefined;
  return useMemo(
    () => (error === undefined ? storedError(answer) : readChatError(error, answer)),
    [error, answer],
  );
}

/** A model that is not offered any more is not sent again, and the offer is read anew. */
function useForgetModel(unknown: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!unknown) return;
    chooseModel(null);
    void client.invalidateQueries({ queryKey: MODELS_KEY });
  }, [unknown, client]);
}

function useAdoption(key: string, messages: ChatMessage[]): void {
  const named = messages.findLast((message) => message.metadata?.chatId)?.metadata?.chatId;
  const client = useQueryClient();
  useEffect(() => {
    if (named === undefined || !adoptChat(key, named)) return;
    void client.invalidateQueries({ queryKey: CHATS_KEY });
  }, [key, named, client]);
}
