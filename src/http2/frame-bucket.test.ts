import { expect, test } from "vitest";
import { FrameBucket } from "./frame-bucket.ts";

function takeAll(bucket: FrameBucket, nowMs: number): number {
  for (let count = 0; ; count++) {
    try {
      bucket.take(nowMs);
    } catch {
      return count;
    }
  }
}

test("a burst passes, then the rate", () => {
  const bucket = new FrameBucket({ what: "things", burst: 10, perSecond: 5 }, 0);
  expect(takeAll(bucket, 0)).toBe(10);
  expect(takeAll(bucket, 1_000)).toBe(5);
  const sum = Array.from({ length: 10 }, (_, second) => takeAll(bucket, 2_000 + second * 1_000)).reduce(
    (a, b) => a + b,
  );
  expect(sum).toBe(50);
});

test("it never holds more than a burst", () => {
  const bucket = new FrameBucket({ what: "things", burst: 10, perSecond: 5 }, 0);
  takeAll(bucket, 0);
  expect(takeAll(bucket, 1e9)).toBe(10);
  for (let index = 0; index < 100; index++) bucket.refund();
  expect(takeAll(bucket, 1e9)).toBe(10);
});

test("time that passed before the first shortage counts too", () => {
  const bucket = new FrameBucket({ what: "things", burst: 10, perSecond: 5 }, 0);
  for (let index = 0; index < 10; index++) bucket.take(0);
  bucket.take(1_000);
});

test("a client that gives back as much as it spends never runs out", () => {
  const bucket = new FrameBucket({ what: "things", burst: 10, perSecond: 5 }, 0);
  for (let index = 0; index < 10_000; index++) {
    bucket.take(0);
    bucket.refund();
  }
  expect(takeAll(bucket, 0)).toBe(10);
});

test("a token that is borrowed comes in as long as the rate needs for it, and is paid back first", () => {
  const bucket = new FrameBucket({ what: "things", burst: 10, perSecond: 5 }, 0);
  expect(Array.from({ length: 12 }, () => bucket.borrow(0))).toEqual([...Array<number>(10).fill(0), 200, 400]);
  expect(bucket.borrow(400)).toBe(200);
  bucket.refund();
  expect(takeAll(bucket, 1_400)).toBe(5);
});

test("its error says what there was too much of", () => {
  const bucket = new FrameBucket({ what: "things", burst: 1, perSecond: 1 }, 0);
  bucket.take(0);
  expect(() => bucket.take(0)).toThrow("too many things");
});
