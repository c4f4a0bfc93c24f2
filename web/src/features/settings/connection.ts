import type { AiSettings, CatalogueModel, DriverInfo } from "./types";

/** A workspace connects to two models: one that answers and one that makes vectors. */
export type Part = "chat" | "embedding";

/** What was typed for one driver; absent: as it is saved. An empty key is one to be removed. */
export interface Typed {
  model?: string | undefined;
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
}

export type KeyNotice =
  | "none"
  | "set"
  | "typed"
  | "removed"
  | "unreadable"
  | "otherOrigin"
  | "changedOrigin";

export interface Connection {
  driver: string;
  info: DriverInfo;
  model: string;
  /** The driver has this one model, so there is nothing to choose. */
  onlyModel: boolean;
  baseUrl: string;
  key: KeyNotice;
}

const ONLY_MODEL: Record<string, string> = { offline: "offline", local: "all-MiniLM-L6-v2" };

/** The connection as it stands in the form: what was typed over what is saved. */
export function connectionOf(
  settings: AiSettings,
  part: Part,
  driver: string,
  typed: Typed,
  models: CatalogueModel[],
): Connection {
  const info = infoOf(settings, part, driver);
  return {
    driver,
    info,
    model: typed.model ?? savedModel(settings, part, driver, models),
    onlyModel: driver in ONLY_MODEL,
    baseUrl: typed.baseUrl ?? info.baseUrl ?? "",
    key: keyNotice(info, typed),
  };
}

export const savedDriver = (settings: AiSettings, part: Part) =>
  part === "chat" ? settings.driver : settings.embeddingDriver;

function savedModel(settings: AiSettings, part: Part, driver: string, models: CatalogueModel[]) {
  if (driver === savedDriver(settings, part)) {
    return part === "chat" ? settings.chatModel : settings.embeddingModel;
  }
  const only = ONLY_MODEL[driver];
  if (only !== undefined || part === "embedding") return only ?? "";
  return models.find((item) => item.driver === driver && item.allowed)?.model ?? "";
}

function infoOf(settings: AiSettings, part: Part, driver: string): DriverInfo {
  const all = part === "chat" ? settings.drivers : settings.embeddingDrivers;
  return all.find((info) => info.driver === driver) ?? { ...UNKNOWN, driver };
}

const UNKNOWN: DriverInfo = {
  driver: "",
  needsKey: false,
  keyAllowed: false,
  needsBaseUrl: false,
  baseUrlAllowed: false,
  defaultBaseUrl: null,
  baseUrl: null,
  hasApiKey: false,
  apiKeyState: "none",
};

function keyNotice(info: DriverInfo, typed: Typed): KeyNotice {
  if (typed.apiKey !== undefined) return typed.apiKey === "" ? "removed" : "typed";
  if (info.apiKeyState === "other-origin") return "otherOrigin";
  if (info.apiKeyState === "set" && movesOrigin(info, typed.baseUrl)) return "changedOrigin";
  return info.apiKeyState;
}

/** Whether the typed address has another scheme, host or port: a key is for one of them only. */
function movesOrigin(info: DriverInfo, baseUrl: string | undefined): boolean {
  if (baseUrl === undefined) return false;
  const wanted = baseUrl.trim() === "" ? info.defaultBaseUrl : baseUrl.trim();
  return originOf(wanted) !== originOf(info.baseUrl ?? info.defaultBaseUrl);
}

/** Scheme, host and port of an address; null for what is none. */
export function originOf(url: string | null): string | null {
  try {
    return url === null ? null : new URL(url).origin;
  } catch {
    return null;
  }
}
