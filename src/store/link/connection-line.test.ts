import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConnectionLine } from "./connection-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a call that comes later than the pause after a failure connects at once (the pause was taken from its time limit)", async () => {
  let tries = 0;
  const line = new ConnectionLine<object>({
    connect: async () => {
      tries += 1;
      throw new Error("refused");
    },
    destroy: () => {},
  });
  const fail = (): Promise<void> => expect(line.open()).rejects.toThrow("refused");
  for (let count = 1; count <= 6; count += 1) {
    const failed = fail();
    // Longer than any pause.
    await vi.advanceTimersByTimeAsync(500);
    await failed;
  }
  await vi.advanceTimersByTimeAsync(500);
  const late = fail();
  await vi.advanceTimersByTimeAsync(0);
  expect(tries).toBe(7);
  await late;
  // A call that comes at once still has to wait.
  const early = fail();
  await vi.advanceTimersByTimeAsync(0);
  expect(tries).toBe(7);
  await vi.advanceTimersByTimeAsync(500);
  await early;
  expect(tries).toBe(8);
});
