import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("a back-off doubles with each failure, up to 2 s, and is drawn from 0", () => {
  const longest = [1, 2, 3, 4, 5, 100].map((failures) => backoffMs(failures, undefined, () => 1));
  expect(longest).toEqual([200, 400, 800, 1_600, 2_000, 2_000]);
  expect(backoffMs(100, undefined, () => 0)).toBe(0);
});

test("of the delay that a server asks for, at most 1 s counts, and up to half as much is laid on it", () => {
  expect(backoffMs(1, 700, () => 0)).toBe(700);
  expect(backoffMs(1, 20_000, () => 0)).toBe(1_000);
  expect(backoffMs(1, 20_000, () => 1)).toBe(1_500);
});
