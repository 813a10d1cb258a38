import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { nsPerMsBig } from "../../snowflake/nanoseconds.ts";

/** 0001-01-01 and 9999-12-31: the range of google.protobuf.Timestamp, in seconds. */
const timestampFirst = -62_135_596_800n;
const timestampLast = 253_402_300_799n;

const nsPerSecond = 1_000_000_000n;

/** Writes Unix nanoseconds as a Timestamp. They must lie between the years 1 and 9999. */
export function unixNsToTimestamp(unixNs: bigint): Timestamp {
  const nanos = ((unixNs % nsPerSecond) + nsPerSecond) % nsPerSecond;
  return create(TimestampSchema, { seconds: (unixNs - nanos) / nsPerSecond, nanos: Number(nanos) });
}

/** Writes whole Unix milliseconds as a Timestamp. They must lie between the years 1 and 9999. */
export function unixMsToTimestamp(unixMs: number): Timestamp {
  return unixNsToTimestamp(BigInt(unixMs) * nsPerMsBig);
}

/** Like {@link unixMsToTimestamp}, for any time: one out of range becomes the nearest end. */
export function unixMsToTimestampClamped(unixMs: number): Timestamp {
  const [first, last] = [Number(timestampFirst) * 1_000, Number(timestampLast) * 1_000];
  return unixMsToTimestamp(Math.min(Math.max(Math.floor(unixMs), first), last));
}

/** Reads a Timestamp as Unix nanoseconds; undefined if it is outside of the range that its type allows. */
export function timestampToNs({ seconds, nanos }: Timestamp): bigint | undefined {
  if (seconds < timestampFirst || seconds > timestampLast || nanos < 0 || nanos > 999_999_999) return undefined;
  return seconds * nsPerSecond + BigInt(nanos);
}

/** Writes nanoseconds, 0 to 2^53 - 1, as a Duration. */
export function nsToDuration(ns: number): Duration {
  return create(DurationSchema, { seconds: BigInt(Math.floor(ns / 1e9)), nanos: ns % 1e9 });
}

/** Writes milliseconds, of either sign, as a Duration in whole nanoseconds. */
export function msToDuration(ms: number): Duration {
  const seconds = Math.trunc(ms / 1_000);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos: Math.trunc((ms - seconds * 1_000) * 1e6) });
}

/** Reads a Duration as nanoseconds; undefined if it is negative, or above 2^53 - 1 (104 days). */
export function durationToNs({ seconds, nanos }: Duration): number | undefined {
  const ns = Number(seconds) * 1e9 + nanos;
  return nanos >= 0 && nanos < 1e9 && Number.isSafeInteger(ns) && ns >= 0 ? ns : undefined;
}
