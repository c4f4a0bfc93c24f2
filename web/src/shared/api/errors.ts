export interface ErrorBody {
  error: string;
  message: string;
  details?: unknown;
}

/** An answer that is not 2xx (`status` > 0), or no answer at all (`status` 0, code `network`). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.code = body.error;
    this.details = body.details;
  }
}

/** The error body in a response's text, or null when the text is something else. */
export function parseErrorBody(text: string): ErrorBody | null {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) return null;
    const { error, message, details } = body as Record<string, unknown>;
    if (typeof error !== "string" || typeof message !== "string") return null;
    return { error, message, details };
  } catch {
    return null;
  }
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}
