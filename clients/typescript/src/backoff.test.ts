import { expect, test } from "vitest";
import { backoffMs, refillBackoffMs } from "./backoff.ts";
import { SnowlaneError } from "./errors.ts";

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

test("a buffer adds at most 100 ms to the back-off of a server that was UNAVAILABLE, and has its own otherwise", () => {
  const failure = (code: "UNAVAILABLE" | "RESOURCE_EXHAUSTED", endpoint?: string): SnowlaneError =>
    new SnowlaneError("STORE_UNAVAILABLE", "x", { code, retryAfterMs: 1_000, ...(endpoint && { endpoint }) });
  expect(refillBackoffMs(5, failure("UNAVAILABLE", "http://a"), () => 1)).toBe(100);
  expect(refillBackoffMs(5, failure("UNAVAILABLE"), () => 1)).toBe(2_000);
  expect(refillBackoffMs(5, failure("RESOURCE_EXHAUSTED", "http://a"), () => 1)).toBe(2_000);
  const mistake = new SnowlaneError("UNREACHABLE", "x", { code: "UNAVAILABLE", metadata: { answered: "never" } });
  expect(refillBackoffMs(5, mistake, () => 1)).toBe(400);
  expect(refillBackoffMs(1, failure("RESOURCE_EXHAUSTED", "http://a"), () => 0)).toBe(1_000);
});
