import { expect, test } from "vitest";
import { checkClock } from "./doctor-store.ts";

const store = { kind: "postgres", durability: "durable" } as const;

test.each([
  [0, "ok"],
  [2_000, "warn"],
  [-20_000, "warn"],
  [14_000, "warn"],
  [16_000, "fail"],
  [-400_000, "fail"],
])("a clock that is %i ms ahead of the store's, with a window of 30 s: %s", (aheadMs, level) => {
  expect(checkClock(store, { aheadMs, tripMs: 4, windowMs: 30_000 })).toMatchObject({ check: "clock offset", level });
});

test("a store without a clock has no offset", () => {
  expect(checkClock(store, { aheadMs: undefined, tripMs: 4, windowMs: 30_000 })).toMatchObject({ level: "ok" });
});
