import { parseErrorBody } from "@/shared/api/errors";

export type ErrorKind =
  | "network"
  | "auth"
  | "forbidden"
  | "disabled"
  | "notConfigured"
  | "rateLimit"
  | "quota"
  | "tooLong"
  | "timeout"
  | "provider"
  | "running"
  | "unavailable"
  | "notFound"
  | "answer";

export interface ChatError {
  kind: ErrorKind;
  /** The server's own words; null when there are none that a person can read. */
  text: string | null;
  /**
   * How to try again. `resend`: the server may not have the message; sending it again finds
   * the same turn if it has. `regenerate`: the turn ended badly and needs a new one. `follow`:
   * an answer is being written already.
   */
  retry: "resend" | "regenerate" | "follow";
}

const BY_CODE: Record<string, ErrorKind> = {
  unauthenticated: "auth",
  forbidden: "forbidden",
  chat_disabled: "disabled",
  not_configured: "notConfigured",
  rate_limited: "rateLimit",
  quota_exceeded: "quota",
  budget_exceeded: "quota",
  insufficient_quota: "quota",
  prompt_too_long: "tooLong",
  context_too_long: "tooLong",
  too_large: "tooLong",
  timeout: "timeout",
  provider_timeout: "timeout",
  provider_error: "provider",
  turn_running: "running",
  unavailable: "unavailable",
  chat_not_found: "notFound",
  not_found: "notFound",
};

const BY_STATUS: Record<number, ErrorKind> = {
  401: "auth",
  402: "quota",
  403: "forbidden",
  404: "notFound",
  413: "tooLong",
  429: "rateLimit",
  502: "unavailable",
  503: "unavailable",
  504: "timeout",
};

/** What `useChat` reports: a refused request, a broken connection, or an error in the stream. */
export function readChatError(error: Error): ChatError {
  const status = (error as { statusCode?: unknown }).statusCode;
  const body = parseErrorBody(error.message);
  if (typeof status === "number") {
    const kind = BY_CODE[body?.error ?? ""] ?? BY_STATUS[status] ?? "answer";
    return { kind, text: body?.message ?? null, retry: kind === "running" ? "follow" : "resend" };
  }
  if (error instanceof TypeError) return { kind: "network", text: null, retry: "resend" };
  const kind = BY_CODE[body?.error ?? ""] ?? "answer";
  return { kind, text: body?.message ?? error.message, retry: "regenerate" };
}

/** Waiting or writing again cannot help: only somebody else can. */
export function canRetry(kind: ErrorKind): boolean {
  return !["auth", "disabled", "notConfigured", "forbidden", "notFound", "tooLong"].includes(kind);
}
