import { afterEach, expect, test, vi } from "vitest";
import { nap } from "./nap.ts";

afterEach(() => vi.restoreAllMocks());

test("it blocks the thread for as long as it is told, fractions included", () => {
  const wait = vi.spyOn(Atomics, "wait").mockReturnValue("timed-out");
  nap(20.5);
  expect(wait.mock.calls).toEqual([[new Int32Array(1), 0, 0, 20.5]]);
});

test("on a thread that must not be blocked it returns at once", () => {
  vi.spyOn(Atomics, "wait").mockImplementation(() => {
    throw new TypeError("Atomics.wait cannot be called in this context");
  });
  expect(() => nap(1_000)).not.toThrow();
});
