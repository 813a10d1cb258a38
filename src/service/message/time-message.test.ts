import { create } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { durationToNs, nsToDuration, timestampToNs, unixMsToTimestamp, unixNsToTimestamp } from "./time-message.ts";

test("a time before 1970 has nanos that count forward", () => {
  expect(unixMsToTimestamp(-1)).toMatchObject({ seconds: -1n, nanos: 999_000_000 });
  expect(unixMsToTimestamp(-62_135_596_800_000)).toMatchObject({ seconds: -62_135_596_800n, nanos: 0 });
  expect(unixNsToTimestamp(1_000_000_001n)).toMatchObject({ seconds: 1n, nanos: 1 });
});

test("a time reads as it was written", () => {
  for (const ms of [0, 1, -1, 999, 1000, 1_288_834_974_657, -62_135_596_800_000, 253_402_300_799_999]) {
    expect(timestampToNs(unixMsToTimestamp(ms))).toBe(BigInt(ms) * 1_000_000n);
  }
});

test("a Timestamp outside the years 1 to 9999 is invalid", () => {
  for (const init of [{ seconds: -62_135_596_801n }, { seconds: 253_402_300_800n }, { nanos: -1 }, { nanos: 1e9 }]) {
    expect(timestampToNs(create(TimestampSchema, init))).toBeUndefined();
  }
});

test("a Duration reads as it was written, unless negative or too long to count in nanoseconds", () => {
  for (const ns of [1_000, 1e6, 1e9, 3.6e12]) expect(durationToNs(nsToDuration(ns))).toBe(ns);
  for (const init of [{ seconds: -1n }, { nanos: -1 }, { nanos: 1e9 }, { seconds: 2n ** 40n }]) {
    expect(durationToNs(create(DurationSchema, init))).toBeUndefined();
  }
});
