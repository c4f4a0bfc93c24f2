import type { UIMessage } from "ai";

export interface ChatSummary {
  id: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  pageId: string | null;
  roleBadge?: string | null;
}

export type StoredStatus = "streaming" | "complete" | "aborted" | "error";

/** What the server says of a message: at the start, at the end, and when it is read again. */
export interface MessageMetadata {
  chatId?: string;
  turnId?: string;
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  timeMs?: number;
  truncated?: boolean;
  error?: string;
  /** Only on messages that were read from the list. */
  status?: StoredStatus;
}

export type ChatMessage = UIMessage<MessageMetadata>;

export interface StoredMessage {
  id: string;
  role: "user" | "assistant";
  parts: ChatMessage["parts"];
  metadata: MessageMetadata | null;
  status: StoredStatus;
  createdAt: string;
}
