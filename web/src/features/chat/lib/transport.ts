import { DefaultChatTransport } from "ai";
import type { ChatMessage } from "../types";
import { fetchWithWait } from "./retryAfter";
import { unlessSilent } from "./silence";

export const CHAT_API = "/v1/ai/chat/tenant";

interface Addressee {
  chatId: string | null;
  pageId: string | null;
  /** The reader's choice; null leaves it to the chat. */
  model: string | null;
}

/** Asks for more of an answer that reached its limit: in the options of a send. */
export const CONTINUE = { continue: true } as const;

export const streamUrl = (chat: string) => `${CHAT_API}/${encodeURIComponent(chat)}/stream`;
export const stopUrl = (chat: string) => `${CHAT_API}/${encodeURIComponent(chat)}/stop`;

/**
 * The SDK's own transport. The server keeps the history, so only the last message goes out;
 * `addressee` is asked at each request, since the open page and the chat's id change.
 */
export function chatTransport(addressee: () => Addressee): DefaultChatTransport<ChatMessage> {
  return new DefaultChatTransport<ChatMessage>({
    api: CHAT_API,
    credentials: "same-origin",
    fetch: unlessSilent(fetchWithWait),
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => {
      const goesOn = body?.["continue"] === true;
      const send = { id, messages: goesOn ? [] : messages, trigger, messageId };
      return { body: { ...sendBody(send, addressee()), ...(goesOn ? CONTINUE : {}) } };
    },
    prepareReconnectToStreamRequest: ({ id }) => ({ api: streamUrl(addressee().chatId ?? id) }),
  });
}

interface Send {
  id: string;
  messages: ChatMessage[];
  trigger: string;
  messageId: string | undefined;
}

export type SendBody = ReturnType<typeof sendBody>;

export function sendBody({ id, messages, trigger, messageId }: Send, to: Addressee) {
  const last = messages.at(-1);
  return {
    id,
    messages: last === undefined ? [] : [{ id: last.id, role: last.role, parts: last.parts }],
    trigger,
    ...(messageId === undefined || last === undefined ? {} : { messageId }),
    ...(to.chatId === null ? {} : { chatId: to.chatId }),
    ...(to.pageId === null ? {} : { pageId: to.pageId }),
    ...(to.model === null ? {} : { model: to.model }),
  };
}
