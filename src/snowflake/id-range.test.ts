import { expect, test } from "vitest";
import { idRange } from "./id-range.ts";
import { createLayout } from "./layout.ts";
import { parseId } from "./parse.ts";
import { layouts } from "./presets.ts";

const { twitter, sonyflake } = layouts;
const invalid = expect.objectContaining({ reason: "INVALID_TIME_RANGE" });
const ns = (unixMs: number): bigint => BigInt(unixMs) * 1_000_000n;
const nowNs = ns(Date.UTC(2026, 10, 21));

test("a millisecond holds every ID of its tick", () => {
  const { firstId, lastId } = idRange(twitter, nowNs, nowNs + 1_000_000n);
  expect(parseId(twitter, firstId)).toMatchObject({ createTimeNs: nowNs, datacenterId: 0, workerId: 0, sequence: 0 });
  expect(parseId(twitter, lastId)).toMatchObject({
    createTimeNs: nowNs,
    datacenterId: 31,
    workerId: 31,
    sequence: 4095,
  });
  expect(lastId - firstId).toBe(2n ** 22n - 1n);
});

test("neighbouring intervals give neighbouring ranges, also within a tick", () => {
  for (const at of [0n, 1n, 499_999n, 500_000n, 999_999n, 4_999_999n]) {
    const left = idRange(sonyflake, nowNs - 20_000_000n, nowNs + at);
    const right = idRange(sonyflake, nowNs + at, nowNs + 20_000_000n);
    expect(right.firstId - left.lastId).toBe(1n);
  }
});

test("the last nanosecond of an interval counts", () => {
  const whole = idRange(twitter, nowNs, nowNs + 1_000_000n);
  const half = idRange(twitter, nowNs, nowNs + 1n);
  expect(half).toEqual(whole);
  const later = idRange(twitter, nowNs + 1n, nowNs + 1_000_001n);
  expect(later.firstId).toBe(whole.lastId + 1n);
});

test("the ends are clamped to the layout's life", () => {
  const all = idRange(twitter, -(10n ** 20n), 10n ** 21n);
  expect(all).toEqual({ firstId: 0n, lastId: 2n ** 63n - 1n });
  const before = idRange(twitter, 0n, ns(twitter.epochMs) + 1n);
  expect(before).toEqual({ firstId: 0n, lastId: 2n ** 22n - 1n });
});

test.each<[string, bigint, bigint]>([
  ["empty", nowNs, nowNs],
  ["reversed", nowNs + 1n, nowNs],
  ["before the epoch", 0n, ns(twitter.epochMs)],
  ["after the layout's life", ns(twitter.endMs), ns(twitter.endMs) + 1n],
  ["inside one tick", nowNs + 1n, nowNs + 999_999n],
])("an interval that is %s is INVALID_TIME_RANGE", (_, startNs, endNs) => {
  expect(() => idRange(twitter, startNs, endNs)).toThrow(invalid);
});

test("ticks finer than a millisecond, and an epoch before 1970, are kept apart", () => {
  const layout = createLayout({
    name: "custom",
    epochMs: -86_400_000,
    tickNs: 1_000,
    fields: [
      { kind: "timestamp", bits: 52 },
      { kind: "worker", bits: 4 },
    ],
  });
  const { firstId, lastId } = idRange(layout, -1_500n, 1_001n);
  expect(parseId(layout, firstId).createTimeNs).toBe(-1_000n);
  expect(parseId(layout, lastId)).toMatchObject({ createTimeNs: 1_000n, workerId: 15 });
});
