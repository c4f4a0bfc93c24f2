import { parseErrorBody } from "@/shared/api/errors";
import type { MessageMetadata } from "../types";

/** Codes of the API and of a turn, in the words of `chatError` in the translations. */
const BY_CODE = {
  unauthenticated: "auth",
  no_session: "auth",
  forbidden: "forbidden",
  chat_disabled: "disabled",
  not_configured: "notConfigured",
  unreadable_secret: "providerAuth",
  rate_limited: "rateLimit",
  token_ceiling: "tokenCeiling",
  prompt_too_long: "tooLong",
  too_large: "tooLong",
  context_too_long: "contextTooLong",
  unknown_model: "unknownModel",
  turn_running: "running",
  queue_full: "queueFull",
  queued_message_not_found: "queuedGone",
  session_ended: "sessionEnded",
  nothing_to_continue: "changed",
  nothing_to_regenerate: "changed",
  unavailable: "unavailable",
  chat_not_found: "notFound",
  not_found: "notFound",
  provider_auth: "providerAuth",
  provider_quota: "providerQuota",
  provider_rate_limit: "providerRateLimit",
  provider_overloaded: "providerOverloaded",
  provider_error: "providerError",
  provider_timeout: "providerTimeout",
  provider_network: "providerNetwork",
  provider_bad_response: "providerBadResponse",
  model_not_found: "modelNotFound",
  tools_unsupported: "toolsUnsupported",
  content_filter: "contentFilter",
  out_of_attempts: "outOfAttempts",
  internal: "internal",
} as const satisfies Record<string, string>;

const BY_STATUS = {
  401: "auth",
  403: "forbidden",
  404: "notFound",
  413: "tooLong",
  429: "rateLimit",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
} as const satisfies Record<number, string>;

export type ErrorKind = (typeof BY_CODE)[keyof typeof BY_CODE] | "network" | "answer";

export interface ChatError {
  kind: ErrorKind;
  /** The server's own words; null when there are none that a person can read. */
  text: string | null;
  /**
   * How to try again. `resend`: the server may not have the request; sending it again finds
   * the same turn if it has. `regenerate`: the turn ended badly and needs a new one. `follow`:
   * an answer is being written already.
   */
  retry: "resend" | "regenerate" | "follow";
  /** What the configuration lacks, by the names of its settings. */
  missing: string[];
  /** Seconds after which another try is let in. */
  wait: number | null;
}

/** A request that found nobody. */
export const NO_CONNECTION: ChatError = {
  kind: "network",
  text: null,
  retry: "resend",
  missing: [],
  wait: null,
};

/** What `useChat` reports: a refused request, a broken connection, or an error in the stream. */
export function readChatError(error: Error, answer?: MessageMetadata): ChatError {
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === "number") return refusal(status, error.message);
  if (error instanceof TypeError) return NO_CONNECTION;
  const body = parseErrorBody(error.message);
  return failedTurn(answer?.errorCode ?? body?.error, body?.message ?? error.message);
}

/** Why a stored answer failed; null when it did not. */
export function storedError(metadata: MessageMetadata | undefined): ChatError | null {
  if (metadata?.status !== "error") return null;
  return failedTurn(metadata.errorCode, metadata.error ?? null);
}

function failedTurn(code: string | undefined, text: string | null): ChatError {
  return { ...NO_CONNECTION, kind: kindOf(code) ?? "answer", text, retry: "regenerate" };
}

function refusal(status: number, responseText: string): ChatError {
  const body = parseErrorBody(responseText);
  const details = detailsOf(body?.details);
  const kind = kindOf(body?.error) ?? BY_STATUS[status as keyof typeof BY_STATUS] ?? "answer";
  return {
    kind,
    text: body?.message ?? null,
    retry: kind === "running" ? "follow" : "resend",
    missing: Array.isArray(details["missing"]) ? details["missing"].map(String) : [],
    wait: typeof details["retryAfter"] === "number" ? details["retryAfter"] : null,
  };
}

/** What a code of the API's is called in the translations. */
export const kindOf = (code: string | undefined): ErrorKind | undefined =>
  code !== undefined && Object.hasOwn(BY_CODE, code)
    ? BY_CODE[code as keyof typeof BY_CODE]
    : undefined;

const detailsOf = (details: unknown): Record<string, unknown> =>
  typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {};

const NOT_AGAIN = new Set<ErrorKind>([
  "auth",
  "forbidden",
  "disabled",
  "notFound",
  "tooLong",
  "contextTooLong",
  "tokenCeiling",
  "contentFilter",
  "changed",
]);
const FOR_ADMINS = new Set<ErrorKind>([
  "disabled",
  "notConfigured",
  "providerAuth",
  "providerQuota",
  "providerNetwork",
  "providerBadResponse",
  "modelNotFound",
  "toolsUnsupported",
]);
const FOR_NEW_CHAT = new Set<ErrorKind>(["contextTooLong", "tokenCeiling", "notFound"]);

/** The same once more can end otherwise, perhaps after somebody has mended something. */
export const canRetry = (kind: ErrorKind): boolean => !NOT_AGAIN.has(kind);
/** It is mended in the workspace's settings. */
export const isForAdmins = (kind: ErrorKind): boolean => FOR_ADMINS.has(kind);
/** A new chat goes on where this one cannot. */
export const needsNewChat = (kind: ErrorKind): boolean => FOR_NEW_CHAT.has(kind);
