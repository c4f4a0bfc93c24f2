import type { AiSettings, AiStatus, CatalogueModel, DriverInfo } from "@/features/settings/types";

export const driver = (name: string, more: Partial<DriverInfo> = {}): DriverInfo => ({
  driver: name,
  needsKey: false,
  keyAllowed: true,
  needsBaseUrl: false,
  baseUrlAllowed: true,
  defaultBaseUrl: null,
  baseUrl: null,
  hasApiKey: false,
  apiKeyState: "none",
  ...more,
});

const OPENAI = driver("openai", {
  needsKey: true,
  defaultBaseUrl: "https://api.openai.com/v1",
  hasApiKey: true,
  apiKeyState: "set",
});

export const SETTINGS: AiSettings = {
  driver: "openai",
  chatModel: "gpt-4o",
  smallModel: "gpt-4o-mini",
  embeddingDriver: "local",
  embeddingModel: "all-MiniLM-L6-v2",
  systemPrompt: "",
  defaultSystemPrompt: "Cite your sources.",
  chatContextWindow: null,
  chatTokenCeiling: 50_000,
  showModelSelector: true,
  onDisconnect: "continue",
  disconnectGraceSeconds: 60,
  chat: true,
  search: true,
  mcp: false,
  version: 4,
  indexedPages: 8,
  totalPages: 8,
  reindexing: false,
  ready: true,
  missing: [],
  drivers: [
    driver("offline", { keyAllowed: false, baseUrlAllowed: false }),
    OPENAI,
    driver("anthropic", { needsKey: true, defaultBaseUrl: "https://api.anthropic.com/v1" }),
    driver("ollama", { needsBaseUrl: true, baseUrl: "http://gpu:11434/v1" }),
  ],
  embeddingDrivers: [
    driver("local", { keyAllowed: false, baseUrlAllowed: false }),
    driver("ollama", { needsBaseUrl: true }),
  ],
};

/** The settings with something else stored for OpenAI. */
export const withOpenAi = (change: Partial<DriverInfo>): AiSettings => ({
  ...SETTINGS,
  drivers: SETTINGS.drivers.map((info) => (info.driver === "openai" ? { ...info, ...change } : info)),
});

export const MODELS: CatalogueModel[] = [
  { driver: "openai", model: "gpt-4o", inputPrice: 0.25, outputPrice: 1, contextWindow: 128_000, allowed: true },
  { driver: "anthropic", model: "claude-old", inputPrice: null, outputPrice: null, contextWindow: null, allowed: false },
  { driver: "anthropic", model: "claude-sonnet", inputPrice: 3, outputPrice: 15, contextWindow: 200_000, allowed: true },
];

export const STATUS: AiStatus = {
  configured: true,
  chat: true,
  driver: "openai",
  model: "gpt-4o",
  reachable: true,
  reason: null,
  code: null,
  canConfigure: true,
};
