import { type Connection, type Part, type Typed, connectionOf, savedDriver } from "./connection";
import type { AiSettings, AiSettingsPatch, CatalogueModel, OnDisconnect, TestBody } from "./types";

/** The settings that are not a connection, as the form's fields hold them. */
export interface Values {
  smallModel: string;
  systemPrompt: string;
  chatContextWindow: string;
  chatTokenCeiling: string;
  showModelSelector: boolean;
  onDisconnect: OnDisconnect;
  disconnectGraceSeconds: string;
  chat: boolean;
  search: boolean;
  mcp: boolean;
}

/**
 * What a person changed and has not saved. Everything else is read from the saved settings, so
 * a refetch in the background changes nothing of it. Each driver keeps what was typed for it.
 */
export interface Edits {
  driver: Partial<Record<Part, string>>;
  typed: Record<string, Typed>;
  values: Partial<Values>;
}

export const NO_EDITS: Edits = { driver: {}, typed: {}, values: {} };

const typedKey = (part: Part, driver: string) => `${part}:${driver}`;

export function chooseDriver(edits: Edits, part: Part, driver: string): Edits {
  return { ...edits, driver: { ...edits.driver, [part]: driver } };
}

export function type(edits: Edits, part: Part, driver: string, change: Typed): Edits {
  const key = typedKey(part, driver);
  return { ...edits, typed: { ...edits.typed, [key]: { ...edits.typed[key], ...change } } };
}

export function setValues(edits: Edits, change: Partial<Values>): Edits {
  return { ...edits, values: { ...edits.values, ...change } };
}

export function valuesOf(settings: AiSettings, edits: Edits): Values {
  // Another provider has neither this one's small model nor its model's window.
  const moved = driverOf(settings, edits, "chat") !== settings.driver;
  return {
    smallModel: (moved ? null : settings.smallModel) ?? "",
    systemPrompt: settings.systemPrompt,
    chatContextWindow: (moved ? null : settings.chatContextWindow)?.toString() ?? "",
    chatTokenCeiling: settings.chatTokenCeiling?.toString() ?? "",
    showModelSelector: settings.showModelSelector,
    onDisconnect: settings.onDisconnect,
    disconnectGraceSeconds: settings.disconnectGraceSeconds.toString(),
    chat: settings.chat,
    search: settings.search,
    mcp: settings.mcp,
    ...edits.values,
  };
}

export function connection(
  settings: AiSettings,
  edits: Edits,
  part: Part,
  models: CatalogueModel[],
): Connection {
  const driver = driverOf(settings, edits, part);
  return connectionOf(settings, part, driver, typedFor(edits, part, driver), models);
}

const driverOf = (settings: AiSettings, edits: Edits, part: Part): string =>
  edits.driver[part] ?? savedDriver(settings, part);

const typedFor = (edits: Edits, part: Part, driver: string): Typed =>
  edits.typed[typedKey(part, driver)] ?? {};

/** A connection's fields by their names on the wire; a key only when one was typed or removed. */
function wire(part: Part, fields: Pick<Connection, "driver" | "model" | "baseUrl"> & Typed) {
  const { driver, model, baseUrl, apiKey } = fields;
  return part === "chat"
    ? { driver, chatModel: model, baseUrl, apiKey }
    : { embeddingDriver: driver, embeddingModel: model, embeddingBaseUrl: baseUrl, embeddingApiKey: apiKey };
}

function connectionFields(
  settings: AiSettings,
  edits: Edits,
  part: Part,
  models: CatalogueModel[],
): AiSettingsPatch {
  const { driver, model, baseUrl } = connection(settings, edits, part, models);
  const { apiKey } = typedFor(edits, part, driver);
  return wire(part, { driver, model: model.trim(), baseUrl: baseUrl.trim(), apiKey });
}

/** What a save would send: only what differs from the saved settings. */
export function patchOf(
  settings: AiSettings,
  edits: Edits,
  models: CatalogueModel[],
): AiSettingsPatch {
  const wanted: AiSettingsPatch = {
    ...connectionFields(settings, edits, "chat", models),
    ...connectionFields(settings, edits, "embedding", models),
    ...valueFields(valuesOf(settings, edits)),
  };
  const saved = savedFields(settings, wanted);
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && value !== saved[name as keyof AiSettingsPatch],
    ),
  );
}

function valueFields(values: Values): AiSettingsPatch {
  const { smallModel, chatContextWindow, chatTokenCeiling, disconnectGraceSeconds, ...rest } = values;
  return {
    ...rest,
    disconnectGraceSeconds: tokensOf(disconnectGraceSeconds) ?? undefined,
    smallModel: smallModel.trim() || null,
    chatContextWindow: tokensOf(chatContextWindow) ?? null,
    chatTokenCeiling: tokensOf(chatTokenCeiling) ?? null,
  };
}

/** What is saved for the drivers that the form has chosen. Keys are never known. */
function savedFields(settings: AiSettings, { driver, embeddingDriver }: AiSettingsPatch): AiSettingsPatch {
  const url = (all: AiSettings["drivers"], name: string | undefined) =>
    all.find((info) => info.driver === name)?.baseUrl ?? "";
  return {
    ...settings,
    baseUrl: url(settings.drivers, driver),
    embeddingBaseUrl: url(settings.embeddingDrivers, embeddingDriver),
    apiKey: undefined,
    embeddingApiKey: undefined,
  };
}

/** A number of tokens or seconds; null for an empty field, undefined for what is none. */
export function tokensOf(text: string): number | null | undefined {
  const digits = text.replace(/[\s_\u00a0\u202f]/gu, "");
  if (digits === "") return null;
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : undefined;
}

/** The fields that do not hold the number that they should. */
export function badNumbers(settings: AiSettings, edits: Edits): (keyof Values)[] {
  const values = valuesOf(settings, edits);
  const bad: (keyof Values)[] = (["chatContextWindow", "chatTokenCeiling"] as const).filter(
    (name) => tokensOf(values[name]) === undefined,
  );
  return tokensOf(values.disconnectGraceSeconds) ? bad : [...bad, "disconnectGraceSeconds"];
}

/** What a test sends: the form as it stands. The stored key is used where none was typed. */
export function testOf(
  settings: AiSettings,
  edits: Edits,
  part: Part,
  models: CatalogueModel[],
): TestBody {
  const fields = connectionFields(settings, edits, part, models);
  return { capability: part === "chat" ? "chat" : "embeddings", ...fields };
}
