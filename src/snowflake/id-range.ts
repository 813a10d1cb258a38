import { IdError } from "../errors.ts";
import { composeId, type Layout } from "./layout.ts";
import { isoOfMs, isoOfNs } from "./iso-time.ts";
import { nsPerMsBig } from "./nanoseconds.ts";

/** The furthest time of a Date from 1970, either way: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const timestampLimitNs = 8_640_000_000_000_000n * nsPerMsBig;

/** The IDs that a time interval can hold, both ends inclusive. */
export interface IdRange {
  readonly firstId: bigint;
  readonly lastId: bigint;
}

/**
 * Returns the lowest and the highest ID whose creation time, as {@link parseId} reads it, lies in an interval, for
 * range queries over stored IDs.
 *
 * Neighbouring intervals give neighbouring ranges, without a gap or an overlap. The ends are clamped to the layout's
 * life. If another field is above the timestamp, IDs of other times lie between the two as well: the range is then only
 * a first filter. docs/adr/0002 explains why the tick that contains the start is left out.
 *
 * @param startNs - Inclusive, Unix nanoseconds.
 * @param endNs - Exclusive, Unix nanoseconds.
 * @throws IdError INVALID_TIME_RANGE if the interval is empty or reversed, or no tick of the layout's life begins in
 * it.
 */
export function idRange(layout: Layout, startNs: bigint, endNs: bigint): IdRange {
  const firstTick = clamp(ticksUp(layout, startNs), layout.timestamp.max + 1);
  const endTick = clamp(ticksUp(layout, endNs), layout.timestamp.max + 1);
  if (endNs <= startNs || firstTick >= endTick) {
    const life = `${isoOfMs(layout.epochMs)} to ${isoOfMs(layout.endMs)}`;
    const why =
      endNs <= startNs ? "is empty or reversed" : `holds no tick of the layout ${layout.name}, which has ${life}`;
    throw new IdError("INVALID_TIME_RANGE", `The interval from ${timeText(startNs)} to ${timeText(endNs)} ${why}.`, {
      metadata: { start_ns: startNs, end_ns: endNs, layout: layout.name },
    });
  }
  const { datacenter, worker, sequence } = layout;
  return {
    firstId: composeId(layout, { ticks: Number(firstTick), datacenterId: 0, workerId: 0, sequence: 0 }),
    lastId: composeId(layout, {
      ticks: Number(endTick - 1n),
      datacenterId: datacenter.max,
      workerId: worker.max,
      sequence: sequence.max,
    }),
  };
}

/** A time in RFC 3339, or in nanoseconds if it is beyond the calendar. */
function timeText(unixNs: bigint): string {
  return unixNs >= -timestampLimitNs && unixNs <= timestampLimitNs ? isoOfNs(unixNs) : `${unixNs} ns`;
}

/** The first tick that begins at or after a time. */
function ticksUp(layout: Layout, unixNs: bigint): bigint {
  const sinceEpochNs = unixNs - BigInt(layout.epochMs) * nsPerMsBig;
  const tickNs = BigInt(layout.tickNs);
  // Division of bigints rounds towards zero, which is upwards only for negative numbers.
  return sinceEpochNs <= 0n ? sinceEpochNs / tickNs : (sinceEpochNs + tickNs - 1n) / tickNs;
}

function clamp(ticks: bigint, ticksMax: number): bigint {
  if (ticks < 0n) return 0n;
  const max = BigInt(ticksMax);
  return ticks > max ? max : ticks;
}
