import type { Queue } from "../types";

const SOON_MS = 250; // after an answer's end the next message is sent within moments …
const SOON_FOR_MS = 5_000; // … unless something is not running
const LATER_MS = 2_000;
const SELDOM_MS = 5_000; // what waits may change in another window

/** Milliseconds until a queue is looked at again; false: nothing is expected of it. */
export function lookAgain(queue: Queue, busy: boolean, idleFor: number): number | false {
  if (queue.items.length === 0) return busy ? SELDOM_MS : false;
  if (busy || queue.held) return SELDOM_MS;
  return idleFor < SOON_FOR_MS ? SOON_MS : LATER_MS;
}

/** Whether a new message has to wait: an answer comes in, or others go before it. */
export const mustWait = (queue: Queue, streaming: boolean): boolean =>
  streaming || (queue.items.length > 0 && !queue.held);

/** Which of the messages that waited do not wait any more: they were sent, or taken out elsewhere. */
export function gone(seen: ReadonlySet<string>, queue: Queue): string[] {
  const waiting = new Set(queue.items.map(({ id }) => id));
  return [...seen].filter((id) => !waiting.has(id));
}
