export const RECONNECT_ATTEMPTS = 15; // about a minute altogether, then it is said to be lost

const FIRST_MS = 500;
const MOST_MS = 5_000; // a server is started again within seconds
const LOST_MS = 15_000; // it may still come back

/** Milliseconds before an attempt, from 0; doubled each time, spread so that clients do not meet. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const most = attempt < RECONNECT_ATTEMPTS ? MOST_MS : LOST_MS;
  return Math.min(most, FIRST_MS * 2 ** attempt) * (0.75 + random() * 0.5);
}
