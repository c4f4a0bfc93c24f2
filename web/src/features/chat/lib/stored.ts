import type { ChatMessage, StoredMessage } from "../types";

/** Stored messages as the AI SDK holds them, oldest first. */
export function fromStored(messages: readonly StoredMessage[]): ChatMessage[] {
  return messages
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id))
    .flatMap((message) => {
      if (message.role === "system") return [];
      const metadata = { ...message.metadata, status: message.status };
      return [{ id: message.id, role: message.role, parts: message.parts, metadata }];
    });
}

export function countUserMessages(messages: readonly Pick<ChatMessage, "role">[]): number {
  return messages.filter((message) => message.role === "user").length;
}
