import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

function bucketOf(perSecond: number) {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  return { clock, bucket: new TokenBucket({ perSecond, clock }) };
}

test("a bucket holds one second's worth, however long nobody takes of it", () => {
  for (const perSecond of [1, 7, 1_000]) {
    const { clock, bucket } = bucketOf(perSecond);
    expect(bucket.take(10 * perSecond)).toBe(perSecond);
    expect(bucket.take(1)).toBe(0);
    clock.ms += 3_600_000;
    expect(bucket.take(10 * perSecond)).toBe(perSecond);
  }
});

test("a wish gets what there is, and nothing below a tenth of a second's worth", () => {
  const { clock, bucket } = bucketOf(1_000);
  bucket.take(1_000);
  clock.ms += 99;
  expect([bucket.take(500), bucket.waitMs(500)]).toEqual([0, 1]);
  expect(bucket.take(50)).toBe(50);
  clock.ms += 51;
  expect(bucket.take(500)).toBe(100);
});

test("what is given back can be taken again, and never fills more than the bucket", () => {
  const { bucket } = bucketOf(100);
  bucket.take(100);
  bucket.giveBack(30);
  expect(bucket.take(100)).toBe(30);
  bucket.giveBack(500);
  expect(bucket.take(1_000)).toBe(100);
});

test("those who book get theirs in turn", () => {
  const { clock, bucket } = bucketOf(1_000);
  bucket.take(1_000);
  expect(bucket.book(500)).toEqual({ count: 100, waitMs: 100 });
  expect(bucket.book(40)).toEqual({ count: 40, waitMs: 140 });
  clock.ms += 140;
  expect(bucket.take(1)).toBe(0);
  clock.ms += 1;
  expect(bucket.take(1)).toBe(1);
});

test("a new rate does not hand out what was used of the old one", () => {
  const { clock, bucket } = bucketOf(1_000);
  bucket.take(1_000);
  bucket.perSecond = 10;
  expect(bucket.take(1)).toBe(0);
  clock.ms += 100;
  expect(bucket.take(1)).toBe(1);
  bucket.perSecond = 1_000;
  expect(bucket.take(1)).toBe(0);
});

test("in no time are more tokens taken than its worth, a second's and the stock's", () => {
  const step = fc.record({
    kind: fc.constantFrom("one", "take", "back"),
    count: fc.integer({ min: 1, max: 300 }),
    ms: fc.integer({ min: 0, max: 400 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 200 }), (perSecond, steps) => {
      const { clock, bucket } = bucketOf(perSecond);
      const taken: { readonly ms: number; readonly count: number }[] = [];
      let held = 0;
      for (const { kind, count, ms } of steps) {
        clock.ms += ms;
        let got = 0;
        if (kind === "one") got = bucket.takeOne() ? 1 : 0;
        else if (kind === "take") got = bucket.take(count);
        else if (held > 0) {
          const back = Math.min(count, held);
          bucket.giveBack(back);
          got = -back;
        }
        held = Math.max(0, held + got);
        taken.push({ ms: clock.ms, count: got });
      }
      for (const [from, first] of taken.entries()) {
        let sum = 0;
        for (const { ms, count } of taken.slice(from)) {
          sum += count;
          const most = perSecond + ((ms - first.ms) * perSecond) / 1_000 + Math.max(1, perSecond / 10) + 1e-6;
          expect(sum).toBeLessThanOrEqual(most);
        }
      }
    }),
    { numRuns: 300 },
  );
});
