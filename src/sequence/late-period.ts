import { createPeriodClock } from "./period.ts";
import { lateError } from "./sequence-error.ts";
import { fieldError, type StoredSequence } from "./sequence.ts";

/**
 * The key of the period that a time lies in: one that has begun, and ended at most `lateMaxMs` ago. Clocks decide
 * whether it gives values, but never which values: docs/adr/0203.
 *
 * @param timeMs - The time that a caller has named: Unix milliseconds.
 * @throws IdError INVALID_SEQUENCE: the sequence has no periods. PERIOD_CLOSED.
 */
export function periodOfTime(stored: StoredSequence, timeMs: number, nowMs: number): string {
  const { definition } = stored;
  const { name, period, lateMaxMs } = definition;
  if (period === "none") throw fieldError("for_time", `The sequence ${name} has no periods.`, { name });
  const keyAt = createPeriodClock(definition);
  const { key } = keyAt(timeMs);
  // The keys of a sequence are in order of time.
  if (key > keyAt(nowMs).key || key < keyAt(nowMs - lateMaxMs).key) throw lateError(stored, key);
  return key;
}
