import { parseErrorBody } from "@/shared/api/errors";

/**
 * `fetch` whose refusals carry `Retry-After` in their body: the AI SDK passes on nothing else of
 * a refused request. Seconds, as `details.retryAfter`.
 */
export const fetchWithWait: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const seconds = Number(response.headers.get("retry-after"));
  if (response.ok || !(seconds > 0)) return response;
  const text = await response.text();
  const body = parseErrorBody(text);
  const told =
    body === null ? text : JSON.stringify({ ...body, details: withWait(body.details, seconds) });
  return new Response(told, { status: response.status });
};

const withWait = (details: unknown, retryAfter: number) =>
  typeof details === "object" && details !== null && !Array.isArray(details)
    ? { ...details, retryAfter }
    : { retryAfter };
