import { isFirstMistake, type SnowlaneError } from "./errors.ts";

const baseMs = 100;
const capMs = 2_000;
/** The longest wait that a server may ask for. Its trouble may be over sooner, so a longer wait is cut to this. */
const retryAfterMaxMs = 1_000;

/**
 * Returns how long to wait after `failureCount` failures in a row: a time drawn evenly from 0 to min(2 s, 100 ms x
 * 2^failureCount), so that the clients of a server that restarts do not come back in step. It is never shorter than the
 * server asked for, of which at most 1 s counts, and is spread above that.
 *
 * @param random - From 0 to below 1.
 */
export function backoffMs(failureCount: number, retryAfterMs: number | undefined, random: () => number): number {
  const drawnMs = random() * Math.min(capMs, baseMs * 2 ** Math.min(failureCount, 16));
  return Math.max(drawnMs, Math.min(retryAfterMs ?? 0, retryAfterMaxMs) * (1 + random() / 2));
}

/**
 * How long a buffer waits after `failureCount` reservations in a row have failed. Where a server was UNAVAILABLE, the
 * client already avoids it for a while, so the buffer adds at most 100 ms: two back-offs would make callers wait for
 * the sum. docs/adr/0222 has more.
 */
export function refillBackoffMs(failureCount: number, error: SnowlaneError, random: () => number): number {
  // Before the first answer, each call should fail within a second.
  if (isFirstMistake(error)) return backoffMs(Math.min(failureCount, 2), error.retryAfterMs, random);
  const isLeftAlone = error.code === "UNAVAILABLE" && error.endpoint !== undefined;
  return isLeftAlone ? backoffMs(0, undefined, random) : backoffMs(failureCount, error.retryAfterMs, random);
}
