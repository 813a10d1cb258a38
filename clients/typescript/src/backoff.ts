import { isFirstMistake, type SnowlaneError } from "./errors.ts";

const baseMs = 100;
const capMs = 2_000;
/** A server may ask for longer than its trouble lasts: it is asked again after so long. */
const retryAfterMaxMs = 1_000;

/**
 * How long to leave alone what has failed `failureCount` times in a row: drawn evenly from 0 to min(2 s, 100 ms x
 * 2^failureCount), so that the clients of a server that restarts do not come back in step; but never shorter than the
 * server asked for, of which at most 1 s counts, and spread above that.
 *
 * @param random - From 0 to below 1.
 */
export function backoffMs(failureCount: number, retryAfterMs: number | undefined, random: () => number): number {
  const drawnMs = random() * Math.min(capMs, baseMs * 2 ** Math.min(failureCount, 16));
  return Math.max(drawnMs, Math.min(retryAfterMs ?? 0, retryAfterMaxMs) * (1 + random() / 2));
}

/**
 * How long a buffer waits after `failureCount` reservations in a row have failed. Where a server was UNAVAILABLE, the
 * client leaves it alone already, so the buffer adds at most 100 ms: two back-offs would make callers wait for the sum.
 * docs/adr/0222 has more.
 */
export function refillBackoffMs(failureCount: number, error: SnowlaneError, random: () => number): number {
  // Before the first answer, each call is to fail within a second.
  if (isFirstMistake(error)) return backoffMs(Math.min(failureCount, 2), error.retryAfterMs, random);
  const isLeftAlone = error.code === "UNAVAILABLE" && error.endpoint !== undefined;
  return isLeftAlone ? backoffMs(0, undefined, random) : backoffMs(failureCount, error.retryAfterMs, random);
}
