export const RECONNECT_ATTEMPTS = 15; // about a minute altogether, then the reader decides

const FIRST_MS = 500;
const MOST_MS = 5_000; // a server is started again within seconds

/** Milliseconds before an attempt, from 0; doubled each time, spread so that clients do not meet. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** attempt) * (0.75 + random() * 0.5);
}
