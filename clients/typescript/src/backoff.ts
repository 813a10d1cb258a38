const baseMs = 100;
const capMs = 5_000;

/**
 * How long to leave alone what has failed `failureCount` times in a row: drawn evenly from 0 to min(5 s, 100 ms x
 * 2^failureCount), so that the clients of a server that restarts do not come back in step; but never shorter than the
 * server asked for, and spread above that.
 *
 * @param random - From 0 to below 1.
 */
export function backoffMs(failureCount: number, retryAfterMs: number | undefined, random: () => number): number {
  const drawnMs = random() * Math.min(capMs, baseMs * 2 ** Math.min(failureCount, 16));
  return Math.max(drawnMs, (retryAfterMs ?? 0) * (1 + random() / 2));
}
