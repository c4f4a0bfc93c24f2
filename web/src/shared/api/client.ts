import { ApiError, parseErrorBody } from "./errors";

type Query = Record<string, string | number | null | undefined>;

interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

let onSignedOut: () => void = () => {};

/** Called when any request answers 401: the session has ended elsewhere. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function send(method: string, path: string, options: Options): Promise<Response> {
  const init: RequestInit = { method, credentials: "same-origin", signal: options.signal ?? null };
  if (options.body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(options.body);
  }
  try {
    return await fetch(withQuery(path, options.query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "network", message: "No connection to the server." });
  }
}

async function request<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  if (!response.ok) {
    const body = parseErrorBody(text) ?? { error: "error", message: response.statusText };
    if (response.status === 401) onSignedOut();
    throw new ApiError(response.status, body);
  }
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export const api = {
  get: <T>(path: string, options?: Options) => request<T>("GET", path, options),
  post: <T>(path: string, body?: unknown) => request<T>("POST", path, { body }),
  put: <T>(path: string, body: unknown) => request<T>("PUT", path, { body }),
  patch: <T>(path: string, body: unknown) => request<T>("PATCH", path, { body }),
  delete: <T>(path: string) => request<T>("DELETE", path),
};

/** A page of a list; `nextCursor` is null on the last one. */
export interface Listing<T> {
  items: T[];
  nextCursor: string | null;
}
