import { expect, onTestFinished, test, vi } from "vitest";
import { FaultReferences } from "./fault-references.ts";
import { createLog } from "./log.ts";

test("a fault has a reference of its own in the log; its repeats share it, and are counted", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line), nowMs: () => 0 });
  const faults = new FaultReferences(log);
  const fail = (method: string, text: string): string => faults.refer(new TypeError(text), method);
  const first = new Set(Array.from({ length: 1_000 }, (_, index) => fail("S/A", `caller's text ${index}`)));
  expect(first.size).toBe(1);
  const [reference] = first;
  expect(reference).toMatch(/^[0-9a-f]{16}$/);
  const other = fail("S/B", "");
  expect(other).not.toBe(reference);
  const written = (): unknown[] => lines.map((line) => JSON.parse(line));
  expect(written()).toMatchObject([
    { level: "error", reference, method: "S/A", error: { message: "caller's text 0" } },
    { level: "error", reference: other, method: "S/B" },
  ]);
  vi.advanceTimersByTime(10_000);
  expect(written().slice(2)).toMatchObject([{ reference, method: "S/A", repeatedCount: 999 }]);
  const later = fail("S/A", "");
  expect(first.has(later)).toBe(false);
  expect(written().at(-1)).toMatchObject({ reference: later, method: "S/A" });
});
