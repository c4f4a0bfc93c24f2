import { useSyncExternalStore } from "react";
import { onPhone } from "@/shared/lib/phone";
import { randomId } from "@/shared/lib/randomId";
import { readStored, writeStored } from "@/shared/lib/storage";

/** The chat that is open. `key` is the id that this browser chose for it and never changes. */
export interface ActiveChat {
  key: string;
  /** The server's id; null until the first answer begins. */
  chatId: string | null;
  /** Nothing was sent yet, so there is nothing to load or to resume. */
  fresh: boolean;
  /** The model that was chosen here; null leaves it to the chat. */
  model: string | null;
}

export interface ChatUi {
  /** The reader opened the chat just now: its input takes the focus. */
  focus: boolean;
  dockOpen: boolean;
  active: ActiveChat;
  /** A question from elsewhere in the app, to be sent by the open chat. */
  prompt: string | null;
  /** The page that the reader looks at, sent along with each question. */
  page: { id: string; title: string } | null;
}

const STORED_CHAT = "pageturn.chat";
const STORED_DOCK = "pageturn.chat-dock";

let state: ChatUi = {
  focus: false,
  // On a phone it would cover the page that was asked for.
  dockOpen: !onPhone() && (readStored<boolean>(sessionStorage, STORED_DOCK) ?? false),
  active: { ...freshChat(), ...readStored<ActiveChat>(sessionStorage, STORED_CHAT) },
  prompt: null,
  page: null,
};
const listeners = new Set<() => void>();

function freshChat(): ActiveChat {
  return { key: randomId(), chatId: null, fresh: true, model: null };
}

function update(change: Partial<ChatUi>): void {
  state = { ...state, ...change };
  writeStored(sessionStorage, STORED_DOCK, state.dockOpen);
  writeStored(sessionStorage, STORED_CHAT, state.active.fresh ? null : state.active);
  for (const listener of listeners) listener();
}

export const chatUi = () => state;
export const showChat = () => update({ dockOpen: true, focus: true });
export const hideChat = () => update({ dockOpen: false });
export const newChat = () => update({ active: freshChat(), focus: true });
export const takePrompt = () => update({ prompt: null });
export const setOpenPage = (page: ChatUi["page"]) => update({ page });
export const askInChat = (prompt: string) =>
  update({ dockOpen: true, focus: true, active: freshChat(), prompt });

export function openChat(chatId: string): void {
  if (state.active.chatId === chatId) showChat();
  else update({ dockOpen: true, focus: true, active: { ...freshChat(), key: chatId, chatId, fresh: false } });
}

export const chooseModel = (model: string | null) => update({ active: { ...state.active, model } });

/** The open chat has sent something: from now on a reload finds it again by its key. */
export function markSent(key: string): void {
  if (state.active.key === key && state.active.fresh) {
    update({ active: { ...state.active, fresh: false } });
  }
}

/** The server has named the chat that this browser began; false when that was known. */
export function adoptChat(key: string, chatId: string): boolean {
  if (state.active.key !== key || state.active.chatId === chatId) return false;
  update({ active: { ...state.active, chatId, fresh: false } });
  return true;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useChatUi(): ChatUi {
  return useSyncExternalStore(subscribe, chatUi);
}
