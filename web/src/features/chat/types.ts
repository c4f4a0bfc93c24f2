import type { UIMessage } from "ai";

export interface ChatSummary {
  id: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  pageId: string | null;
  roleBadge?: string | null;
  /** The model that was chosen for this chat; null while it is the workspace's default. */
  model?: string | null;
  tokensUsed?: number;
  tokenCeiling?: number | null;
}

export type StoredStatus = "streaming" | "complete" | "aborted" | "error";

/** What a turn did to a page. */
export interface PageAction {
  pageId: string;
  title: string;
  url: string;
  action: "created" | "edited";
  version: number;
}

/** A message's siblings, oldest first, and which of them is shown. */
export interface Branch {
  index: number;
  ids: string[];
}

/** What the server says of a message: at the start, at the end, and when it is read again. */
export interface MessageMetadata {
  chatId?: string;
  turnId?: string;
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  contextTokens?: number;
  contextWindow?: number;
  costInCents?: number;
  steps?: number;
  timeMs?: number;
  truncated?: boolean;
  finishReason?: string;
  /** Why the answer was stopped before its end. */
  stopReason?: "asked" | "interrupted" | "unattended";
  changes?: PageAction[];
  error?: string;
  errorCode?: string;
  /** From here on: only on messages that were read from the list. */
  status?: StoredStatus;
  branch?: Branch | null;
  hiddenChanges?: PageAction[];
  /** What the message is called on the screen; outlives a change of its id. */
  key?: string;
}

export type ChatMessage = UIMessage<MessageMetadata>;

/** A message that waits for the answer before it; `error` says why it could not be sent. */
export interface QueuedItem {
  id: string;
  text: string;
  createdAt: string;
  error: { code: string; message: string } | null;
}

/** In the order of sending. `held`: nothing is sent before the person says so. */
export interface Queue {
  items: QueuedItem[];
  held: boolean;
}

export interface StoredMessage {
  id: string;
  role: "user" | "assistant";
  parts: ChatMessage["parts"];
  metadata: MessageMetadata | null;
  status: StoredStatus;
  createdAt: string;
  parentId?: string | null;
  branch?: Branch | null;
  hiddenChanges?: PageAction[];
}
