import { expect, test } from "vitest";
import { RefillPolicy } from "./refill-policy.ts";

test("at 2,000 IDs a second a reservation asks for 2,000, with the marks that the example says", () => {
  const policy = new RefillPolicy({ countMin: 32, countMax: 65_536 });
  policy.noteHandedOut({ atMs: 0, count: 0 });
  expect(policy.reserveCount).toBe(32);
  policy.noteHandedOut({ atMs: 1_000, count: 2_000 });
  expect(policy.reserveCount).toBe(2_000);
  const marks = [5, 50, 100].map((durationMs) => {
    const measured = new RefillPolicy({ countMin: 32, countMax: 65_536 });
    measured.noteHandedOut({ atMs: 0, count: 0 });
    measured.noteHandedOut({ atMs: 1_000, count: 2_000 });
    measured.noteRoundTrip(durationMs);
    return measured.lowWater(2_000);
  });
  expect(marks).toEqual([500, 800, 1_600]);
  const rates = Array.from({ length: 6 }, (_, second) => {
    policy.noteHandedOut({ atMs: 2_000 + second * 1_000, count: 2_000 });
    return policy.ratePerSecond;
  });
  expect(rates).toEqual([1_000, 500, 250, 125, 62.5, 31.25]);
  expect(policy.reserveCount).toBe(32);
});

test("a mark that is met within 250 ms doubles the next reservation, as the example says", () => {
  const policy = new RefillPolicy({ countMin: 32, countMax: 65_536 });
  policy.noteMark(32, 250);
  expect(policy.reserveCount).toBe(64);
  policy.noteMark(32, 251);
  expect(policy.reserveCount).toBe(32);
});
