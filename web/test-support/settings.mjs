// The settings of the model's providers, and the models that a chat may use.
import { refuse } from "./refusals.mjs";

const ADDRESSES = {
  offline: null, openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com", ollama: "http://localhost:11434", "openai-compatible": null,
};
const KEYED = ["openai", "anthropic", "gemini"];
const sealed = new Map();
const connection = (driver, part) => ({
  driver,
  needsKey: KEYED.includes(driver), keyAllowed: !["offline", "local"].includes(driver),
  needsBaseUrl: driver === "openai-compatible", baseUrlAllowed: !["offline", "local"].includes(driver),
  defaultBaseUrl: ADDRESSES[driver] ?? null, baseUrl: sealed.get(`${part}:${driver}:url`) ?? null,
  hasApiKey: sealed.has(`${part}:${driver}:key`), apiKeyState: sealed.has(`${part}:${driver}:key`) ? "set" : "none",
});

const saved = {
  driver: "offline", chatModel: "offline", smallModel: null, embeddingDriver: "local", embeddingModel: "local-384",
  systemPrompt: "", chatContextWindow: null, chatTokenCeiling: null,
  showModelSelector: true, chat: true, search: true, mcp: false, version: 1,
};

function missing() {
  const now = connection(saved.driver, "chat");
  return [
    ...(now.needsKey && !now.hasApiKey ? ["apiKey"] : []),
    ...(now.needsBaseUrl && !now.baseUrl ? ["baseUrl"] : []),
    ...(saved.chatModel === "" ? ["chatModel"] : []),
  ];
}

export function settings() {
  const chat = connection(saved.driver, "chat");
  const embedding = connection(saved.embeddingDriver, "embedding");
  return {
    ...saved, baseUrl: chat.baseUrl, hasApiKey: chat.hasApiKey, apiKeyState: chat.apiKeyState,
    embeddingBaseUrl: embedding.baseUrl, hasEmbeddingApiKey: embedding.hasApiKey, embeddingApiKeyState: embedding.apiKeyState,
    defaultSystemPrompt: "You help a team with its wiki. Say where each answer comes from.",
    indexedPages: 6, totalPages: 8, reindexing: false, ready: missing().length === 0, missing: missing(),
    drivers: Object.keys(ADDRESSES).map((driver) => connection(driver, "chat")),
    embeddingDrivers: ["local", "openai-compatible", "ollama"].map((driver) => connection(driver, "embedding")),
  };
}

export function saveSettings({ apiKey, baseUrl, embeddingApiKey, embeddingBaseUrl, ...rest }) {
  if (rest.driver !== undefined && !(rest.driver in ADDRESSES)) refuse(422, "unknown_driver", "There is no such driver.");
  if (baseUrl && !/^https?:\/\/\S+$/.test(baseUrl)) refuse(422, "bad_base_url", "The address must begin with http:// or https://.");
  Object.assign(saved, rest, { version: saved.version + 1 });
  const keep = (name, value) => {
    if (value === undefined) return;
    if (value === "" || value === null) sealed.delete(name);
    else sealed.set(name, value);
  };
  keep(`chat:${saved.driver}:key`, apiKey);
  keep(`chat:${saved.driver}:url`, baseUrl);
  keep(`embedding:${saved.embeddingDriver}:key`, embeddingApiKey);
  keep(`embedding:${saved.embeddingDriver}:url`, embeddingBaseUrl);
  return settings();
}

/** The key decides: "wrong" is refused by the provider, an address with "nowhere" has nobody. */
export function testSettings(body) {
  const failed = (code, message, status) => ({ ok: false, error: { code, message, ...(status ? { status } : {}) }, timeMs: 412 });
  const key = body.apiKey ?? body.embeddingApiKey ?? "";
  const url = body.baseUrl ?? body.embeddingBaseUrl ?? "";
  if (/wrong/.test(key)) return failed("provider_auth", "The provider answered 401: the key is not valid.", 401);
  if (/nowhere/.test(url)) return failed("provider_network", "Nobody answers at this address.");
  return { ok: true, timeMs: 318, ...(body.capability === "embeddings" ? { dimensions: 384 } : {}) };
}

export const status = () => ({
  configured: missing().length === 0, chat: saved.chat, driver: saved.driver, model: saved.chatModel,
  reachable: true, reason: null, code: null, canConfigure: true,
});

const models = [
  { driver: "offline", model: "offline", inputPrice: null, outputPrice: null, contextWindow: 128_000, allowed: true },
  { driver: "offline", model: "offline-thorough", inputPrice: 1.5, outputPrice: 6, contextWindow: 128_000, allowed: true },
];

export const listModels = () => models;

export function saveModel(item) {
  removeModel(item.driver, item.model);
  models.push(item);
  return item;
}

export function removeModel(driver, model) {
  const index = models.findIndex((item) => item.driver === driver && item.model === model);
  if (index !== -1) models.splice(index, 1);
}

/** The default, then the allowed ones. */
export function offered() {
  const others = models.filter(({ driver, model, allowed }) => allowed && driver === saved.driver && model !== saved.chatModel);
  return [{ model: saved.chatModel, isDefault: true }, ...others.map(({ model }) => ({ model, isDefault: false }))];
}

export const choice = () => ({ items: offered(), showModelSelector: saved.showModelSelector });
