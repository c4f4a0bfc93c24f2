import { useChat } from "@ai-sdk/react";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useRefreshPages } from "@/features/pages/queries/pages";
import { type ActiveChat, adoptChat, chatUi, markSent } from "../chatUi";
import { type ChatError, readChatError } from "../lib/chatErrors";
import { foldParts, messageText } from "../lib/foldParts";
import { isWrite } from "../lib/tools";
import { chatTransport } from "../lib/transport";
import { CHATS_KEY } from "../queries/chats";
import type { ChatMessage } from "../types";
import { type Connection, type Ending, useReconnect } from "./useReconnect";
import { useStop } from "./useStop";

const RENDER_MS = 60; // the text is drawn at most this often while it streams in

/** A chat as its view needs it: the SDK's `useChat` with reconnecting, stopping and retrying. */
export function useConversation(active: ActiveChat, initial: ChatMessage[] | null) {
  // A chat that the server does not know has nothing to resume.
  const [resume] = useState(initial !== null);
  const chatId = useRef(active.chatId);
  chatId.current = active.chatId;
  const transport = useMemo(
    () =>
      chatTransport(() => ({ chatId: chatId.current, pageId: chatUi().page?.id ?? null })),
    [],
  );
  const ending = useRef<Ending>({ kind: "none", status: null });
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
    onFinish: ({ message, isAbort, isDisconnect, isError, finishReason }) => {
      const brokeOff = isDisconnect || (!isError && finishReason === undefined);
      if (isAbort) ending.current = { kind: "aborted", status: null };
      else if (brokeOff) ending.current = { kind: "interrupted", status: null };
      else if (!isError) ending.current = { kind: "finished", status: null };
      if (brokeOff && !isAbort) reconnect.start();
      if (finishReason === "interrupted") chat.setMessages(markStopped(message.id));
      afterTurn(message);
    },
  });

  const reconnect = useReconnect({ chat, ending, address: () => chatId.current ?? active.key });
  const stop = useStop(chat, () => chatId.current ?? active.key);
  useAdoption(active.key, chat.messages);

  const send = useCallback(
    (text: string) => {
      markSent(active.key);
      reconnect.cancel();
      void chat.sendMessage({ text });
    },
    [active.key, chat, reconnect],
  );

  const failure = useFailure(chat.error);
  const retry = () => {
    const unsent = reconnect.state === "unsent" || failure?.retry === "resend";
    reconnect.cancel();
    if (failure?.retry === "follow") reconnect.start();
    else if (unsent) void resend(chat);
    else void chat.regenerate();
  };
  const busy = chat.status === "submitted" || chat.status === "streaming";
  return {
    messages: chat.messages,
    busy,
    connection: busy ? ("live" as Connection) : reconnect.state,
    reconnect: reconnect.start,
    failure: reconnect.state === "live" ? failure : null,
    send,
    retry,
    regenerate: () => void chat.regenerate(),
    stop: stop.run,
    stopping: busy && stop.pending,
  };
}

type Chat = ReturnType<typeof useChat<ChatMessage>>;

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

/** The same message under the same id: the server answers it once, however often it comes. */
async function resend(chat: Chat): Promise<void> {
  const last = chat.messages.findLast((message) => message.role === "user");
  if (last === undefined) return;
  await chat.sendMessage({ text: messageText(last), messageId: last.id });
}

function useFailure(error: Error | undefined): ChatError | null {
  return useMemo(() => (error === undefined ? null : readChatError(error)), [error]);
}

function useAdoption(key: string, messages: ChatMessage[]): void {
  const named = messages.findLast((message) => message.metadata?.chatId)?.metadata?.chatId;
  const client = useQueryClient();
  useEffect(() => {
    if (named === undefined || !adoptChat(key, named)) return;
    void client.invalidateQueries({ queryKey: CHATS_KEY });
  }, [key, named, client]);
}

/** A turn may have made a chat, named it, or written pages: what shows them is read again. */
function useAfterTurn() {
  const client = useQueryClient();
  const refreshPages = useRefreshPages();
  return (message: ChatMessage) => {
    void client.invalidateQueries({ queryKey: CHATS_KEY });
    const wrote = foldParts(message.parts, false).segments.some(
      (segment) =>
        segment.kind === "tools" &&
        segment.tools.some((tool) => tool.state === "ok" && isWrite(tool.name)),
    );
    if (wrote) void refreshPages();
  };
}
