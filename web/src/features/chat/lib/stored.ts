import type { ChatMessage, StoredMessage } from "../types";
import { messageText } from "./foldParts";

/** Stored messages as the AI SDK holds them. */
export function fromStored(messages: readonly StoredMessage[]): ChatMessage[] {
  return messages.map(({ id, role, parts, metadata, status, branch, hiddenChanges }) => ({
    id,
    role,
    parts,
    metadata: {
      ...metadata,
      status,
      branch: branch ?? null,
      hiddenChanges: hiddenChanges ?? [],
      key: id,
    },
  }));
}

/** What a message is called on the screen, whichever id it has by now. */
export const viewKey = (message: ChatMessage): string => message.metadata?.key ?? message.id;

/**
 * The stored messages in place of the shown ones. Where nothing differs the shown message itself
 * stays, and a place keeps its key when its message gets the server's id or another version is
 * shown there: so nothing is drawn anew without need, and the focus stays where it is. An answer
 * that is being written is stored a step at a time: what has come in of it here is ahead of that.
 */
export function mergeStored(
  shown: readonly ChatMessage[],
  stored: readonly ChatMessage[],
): ChatMessage[] {
  return stored.map((kept, index) => {
    const message = kept.metadata?.status === "streaming" ? withParts(kept, shown) : kept;
    const old = shown[index];
    if (old === undefined || !isSamePlace(old, message)) return message;
    const next = { ...message, metadata: { ...message.metadata, key: viewKey(old) } };
    return JSON.stringify(old) === JSON.stringify(next) ? old : next;
  });
}

function withParts(kept: ChatMessage, shown: readonly ChatMessage[]): ChatMessage {
  const live = shown.findLast(({ id }) => id === kept.id);
  return live && live.parts.length >= kept.parts.length ? { ...kept, parts: live.parts } : kept;
}

function isSamePlace(old: ChatMessage, stored: ChatMessage): boolean {
  if (old.role !== stored.role) return false;
  if (old.id === stored.id || stored.metadata?.branch?.ids.includes(old.id)) return true;
  const sentHere = old.role === "user" && old.metadata?.status === undefined;
  return sentHere && messageText(old) === messageText(stored);
}

export function countUserMessages(messages: readonly Pick<ChatMessage, "role">[]): number {
  return messages.filter((message) => message.role === "user").length;
}
