import { expect, test } from "vitest";
import { periodOfTime } from "./late-period.ts";
import { completeDefinition, type SequenceDraft, type StoredSequence } from "./sequence.ts";

const dayMs = 86_400_000;

function storedOf(draft: Partial<SequenceDraft>): StoredSequence {
  const definition = completeDefinition({ name: "bills", ...draft });
  const times = { createdMs: 1, updatedMs: 1, epoch: 0, revision: 1 };
  return { definition, sequenceId: "s", closedBefore: "", begunCount: 0, ...times };
}

test("a time is in a period that ended at most late_max ago, to the millisecond", () => {
  const stored = storedOf({ period: "fiscal-year", yearStart: "04-01", lateMaxMs: 10 * dayMs });
  const endMs = Date.UTC(2026, 3, 1);
  const inIt = Date.UTC(2026, 1, 1);
  expect(periodOfTime(stored, inIt, endMs + 10 * dayMs - 1)).toBe("2025-04-01");
  expect(periodOfTime(stored, endMs - 1, endMs)).toBe("2025-04-01");
  expect(periodOfTime(stored, endMs, endMs)).toBe("2026-04-01");
  const closed = expect.objectContaining({ reason: "PERIOD_CLOSED" });
  expect(() => periodOfTime(stored, inIt, endMs + 10 * dayMs)).toThrow(closed);
  expect(() => periodOfTime(stored, endMs, endMs - 1)).toThrow(closed);
});

test("a time is in the period of the sequence's zone, and without late_max in that of now alone", () => {
  const stored = storedOf({ period: "day", timeZone: "Asia/Tokyo" });
  const nowMs = Date.UTC(2026, 10, 22, 16);
  expect(periodOfTime(stored, Date.UTC(2026, 10, 22, 15), nowMs)).toBe("2026-11-23");
  expect(() => periodOfTime(stored, Date.UTC(2026, 10, 22, 14, 59), nowMs)).toThrow("2026-11-22 of the sequence bills");
  expect(() => periodOfTime(storedOf({}), nowMs, nowMs)).toThrow("has no periods");
});
