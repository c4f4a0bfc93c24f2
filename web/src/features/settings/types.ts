/** `unreadable`: stored under another secret. `other-origin`: entered for another address. */
export type KeyState = "none" | "set" | "unreadable" | "other-origin";

/** What a driver needs, and what is stored for it. */
export interface DriverInfo {
  driver: string;
  needsKey: boolean;
  keyAllowed: boolean;
  needsBaseUrl: boolean;
  baseUrlAllowed: boolean;
  defaultBaseUrl: string | null;
  /** Null: the driver's own default. */
  baseUrl: string | null;
  hasApiKey: boolean;
  apiKeyState: KeyState;
}

export type OnDisconnect = "continue" | "cancel";

export interface AiSettings {
  driver: string;
  chatModel: string;
  /** For titles and summaries; null: the chat model. */
  smallModel: string | null;
  embeddingDriver: string;
  embeddingModel: string;
  /** Empty: the default text. */
  systemPrompt: string;
  defaultSystemPrompt: string;
  /** Tokens; null: what the catalogue says. */
  chatContextWindow: number | null;
  /** Tokens of one chat; null: none. */
  chatTokenCeiling: number | null;
  showModelSelector: boolean;
  /** Whether an answer goes on when nobody follows it, or is stopped after so many seconds. */
  onDisconnect: OnDisconnect;
  disconnectGraceSeconds: number;
  chat: boolean;
  search: boolean;
  mcp: boolean;
  version: number;
  indexedPages: number;
  totalPages: number;
  reindexing: boolean;
  ready: boolean;
  missing: string[];
  drivers: DriverInfo[];
  embeddingDrivers: DriverInfo[];
}

/** Absent: keep. A key is "" to remove it; an address is "" for the driver's default. */
export interface AiSettingsPatch {
  driver?: string;
  chatModel?: string;
  baseUrl?: string;
  apiKey?: string;
  embeddingDriver?: string;
  embeddingModel?: string;
  embeddingBaseUrl?: string;
  embeddingApiKey?: string;
  smallModel?: string | null;
  systemPrompt?: string;
  chatContextWindow?: number | null;
  chatTokenCeiling?: number | null;
  showModelSelector?: boolean;
  onDisconnect?: OnDisconnect;
  disconnectGraceSeconds?: number;
  chat?: boolean;
  search?: boolean;
  mcp?: boolean;
}

export interface TestBody extends AiSettingsPatch {
  capability: "chat" | "embeddings";
}

export type TestResult =
  | { ok: true; timeMs: number; dimensions?: number | null }
  | { ok: false; timeMs: number; error: { code: string; message: string; status?: number | null } };

export interface AiStatus {
  configured: boolean;
  chat: boolean;
  driver: string;
  model: string;
  /** Null: not called yet. */
  reachable: boolean | null;
  reason: string | null;
  code: string | null;
  canConfigure: boolean;
}

/** Prices are US dollars per million tokens. */
export interface CatalogueModel {
  driver: string;
  model: string;
  inputPrice: number | null;
  outputPrice: number | null;
  contextWindow: number | null;
  allowed: boolean;
}
