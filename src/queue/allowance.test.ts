import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import type { IdError } from "../errors.ts";
import { Allowance, type Quota } from "./allowance.ts";

const none: Quota = { idsPerSecond: undefined, callsPerSecond: undefined, streamsMax: undefined };

function allowanceOf(quota: Partial<Quota>) {
  const time = new ManualTime();
  const allowance = new Allowance("app", time, time);
  allowance.limit({ ...none, ...quota });
  return { time, allowance };
}

const never = { signal: new AbortController().signal };

test("what has no limit is never refused, and never waits", () => {
  const { allowance } = allowanceOf({});
  for (let count = 0; count < 10_000; count++) {
    allowance.takeCall();
    allowance.takeId();
    allowance.openStream();
  }
  expect(allowance.takeIds(1e9)).toBe(1e9);
  expect(allowance.awaitIds(1e9, never)).toBe(1e9);
});

test("each refusal counts, for the quota and for other causes", () => {
  const { allowance } = allowanceOf({ callsPerSecond: 1, idsPerSecond: 5 });
  expect([allowance.refusedCount, allowance.idsPerSecond]).toEqual([0, 5]);
  allowance.takeCall();
  expect(() => allowance.takeCall()).toThrow();
  expect(() => allowance.checkCall()).toThrow();
  allowance.noteRefusal();
  expect(allowance.refusedCount).toBe(3);
  expect(allowanceOf({}).allowance.idsPerSecond).toBeUndefined();
});

test("streams are paced to their quota within two per cent, and share it alike", async () => {
  const { time, allowance } = allowanceOf({ idsPerSecond: 10_000 });
  const seconds = 50;
  const counts = [0, 0, 0, 0];
  const abort = new AbortController();
  const streaming = counts.map(async (_, index) => {
    for (;;) counts[index]! += await allowance.awaitIds(4_096, abort);
  });
  for (let ms = 0; ms < seconds * 1_000; ms += 50) await time.run(50);
  abort.abort(new Error("over"));
  await Promise.allSettled(streaming);
  const total = counts.reduce((sum, count) => sum + count, 0);
  expect(Math.abs(total / (10_000 * seconds) - 1)).toBeLessThan(0.02 + 1 / seconds);
  for (const count of counts) expect(Math.abs((count * counts.length) / total - 1)).toBeLessThan(0.1);
});

test("a caller of reservations that waits as RetryInfo says gets its quota within two per cent", async () => {
  const { time, allowance } = allowanceOf({ idsPerSecond: 10_000 });
  allowance.takeIds(10_000);
  let total = 0;
  let refusals = 0;
  const startMs = time.monotonicMs();
  while (time.monotonicMs() < startMs + 50_000) {
    try {
      total += allowance.takeIds(100_000);
    } catch (error) {
      const { reason, retryAfterMs } = error as IdError;
      expect(reason).toBe("QUOTA_EXCEEDED");
      refusals++;
      await time.run(retryAfterMs!);
    }
  }
  expect(Math.abs(total / 500_000 - 1)).toBeLessThan(0.02);
  // Never less than a tenth of a second's worth: so at most ten reservations a second.
  expect(refusals).toBeLessThanOrEqual(501);
});

test("single IDs are refused with the time after which there is one", async () => {
  const { time, allowance } = allowanceOf({ idsPerSecond: 4 });
  const take = (): IdError | undefined => {
    try {
      allowance.takeId();
      return undefined;
    } catch (error) {
      return error as IdError;
    }
  };
  for (let count = 0; count < 4; count++) expect(take()).toBeUndefined();
  const refusal = take();
  expect(refusal).toMatchObject({
    reason: "QUOTA_EXCEEDED",
    retryAfterMs: 250,
    metadata: { principal: "app", ids_per_second: "4" },
  });
  await time.run(249);
  expect(take()?.retryAfterMs).toBe(1);
  await time.run(1);
  expect(take()).toBeUndefined();
  expect(take()).toBeDefined();
});

test("calls and streams have limits of their own", async () => {
  const { time, allowance } = allowanceOf({ callsPerSecond: 2, streamsMax: 2 });
  for (const one of [1, 2]) {
    allowance.takeCall();
    allowance.openStream();
    expect(one).toBeGreaterThan(0);
  }
  const refusal = (reason: object) => expect.objectContaining({ reason: "QUOTA_EXCEEDED", ...reason });
  expect(() => allowance.takeCall()).toThrow(refusal({ retryAfterMs: 500 }));
  expect(() => allowance.openStream()).toThrow(refusal({ metadata: { principal: "app", streams_max: "2" } }));
  await time.run(500);
  allowance.takeCall();
  allowance.closeStream();
  allowance.openStream();
});

test("a caller that leaves while it waits takes nothing from those who stay", async () => {
  const { time, allowance } = allowanceOf({ idsPerSecond: 1_000 });
  allowance.takeIds(1_000);
  const abort = new AbortController();
  const leaving = allowance.awaitIds(100, abort);
  const staying = allowance.awaitIds(100, never);
  abort.abort(new Error("gone"));
  await expect(leaving).rejects.toThrow("gone");
  await expect(allowance.awaitIds(100, { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  await time.run(200);
  expect(await staying).toBe(100);
  expect(allowance.takeIds(100)).toBe(100);
});
