import type { ChatMessage, StoredMessage } from "../types";

/** Stored messages as the AI SDK holds them. */
export function fromStored(messages: readonly StoredMessage[]): ChatMessage[] {
  return messages.map(({ id, role, parts, metadata, status }) => ({
    id,
    role,
    parts,
    metadata: { ...metadata, status },
  }));
}

export function countUserMessages(messages: readonly Pick<ChatMessage, "role">[]): number {
  return messages.filter((message) => message.role === "user").length;
}
