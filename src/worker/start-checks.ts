import { IdError } from "../errors.ts";
import type { Layout } from "../snowflake/layout.ts";

/**
 * A wall clock before this is wrong: 2026-01-01, well before this release. A machine that lost its battery starts in
 * 1970 or at the date of its firmware, which may lie after the epoch.
 */
const plausibleFromMs = Date.UTC(2026, 0, 1);

/**
 * Refuses a wall clock that cannot be right.
 *
 * @throws IdError CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED.
 */
export function checkWallClock(nowMs: number, layout: Layout): void {
  const fromMs = Math.max(layout.epochMs, plausibleFromMs);
  const now = show(nowMs);
  if (nowMs < fromMs) {
    const message = `The clock says ${now}, before ${show(fromMs)}. Set it right (for example by NTP), then start again.`;
    throw new IdError("CLOCK_BEFORE_EPOCH", message, { metadata: { now_ms: nowMs, earliest_ms: fromMs } });
  }
  if (nowMs >= layout.endMs) {
    const message = `The clock says ${now}, but the layout ${layout.name} ended at ${show(layout.endMs)}. A layout with a later epoch or more bits of time, in another namespace, would go on; its IDs can equal those of this one.`;
    throw new IdError("TIMESTAMP_EXHAUSTED", message, { metadata: { now_ms: nowMs, end_ms: layout.endMs } });
  }
}

/**
 * The error of a start whose wall clock the store's contradicts. The largest difference that is accepted is in
 * window.ts.
 */
export function clockOffError(aheadMs: number): IdError {
  const difference = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
  const message = `The clock of this machine is ${difference} the store's clock. Set it right (for example by NTP).`;
  return new IdError("INVALID_CONFIG", message, { metadata: { clock_ahead_ms: aheadMs } });
}

function show(ms: number): string {
  return Math.abs(ms) > 8.64e15 ? `${ms} ms` : new Date(ms).toISOString();
}
