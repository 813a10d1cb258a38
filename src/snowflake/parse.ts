import { IdError } from "../errors.ts";
import { decomposeId, type FieldPlace, type Layout, ticksToMsDown } from "./layout.ts";
import { nsPerMsBig } from "./nanoseconds.ts";

/** The parts of an ID, read by a layout. */
export interface ParsedId {
  readonly id: bigint;
  readonly layout: Layout;
  /** Ticks since the layout's epoch. */
  readonly ticks: number;
  /** The three below are undefined where the layout has no such field. */
  readonly datacenterId: number | undefined;
  readonly workerId: number | undefined;
  readonly sequence: number | undefined;
  /** When the ID's tick began, Unix milliseconds, rounded down. */
  readonly createTimeMs: number;
  /** The same, Unix nanoseconds, exact. */
  readonly createTimeNs: bigint;
  /**
   * The 64 bits, highest first. A space divides bit 63, the bits that belong to no field if there are any, and the
   * fields.
   */
  readonly bits: string;
}

/**
 * Reads an ID by a layout.
 *
 * Cannot show whether the ID was issued: any number that fits the layout can be read.
 *
 * @throws IdError MALFORMED_ID if the ID is negative or above 2^63 - 1, has a bit that belongs to no field, or carries
 * a time past the layout's life.
 */
export function parseId(layout: Layout, id: bigint): ParsedId {
  if (id < 0n || id >= 2n ** 63n) throw malformed(layout, id, "is not from 0 to 2^63 - 1");
  if (id >= 1n << BigInt(layout.bits)) throw malformed(layout, id, `has more than the layout's ${layout.bits} bits`);
  const { ticks, datacenterId, workerId, sequence } = decomposeId(layout, id);
  if (ticks > layout.timestamp.max) throw malformed(layout, id, "has a time after the layout's end");
  return {
    id,
    layout,
    ticks,
    datacenterId: ifAny(layout.datacenter, datacenterId),
    workerId: ifAny(layout.worker, workerId),
    sequence: ifAny(layout.sequence, sequence),
    createTimeMs: ticksToMsDown(layout, ticks),
    createTimeNs: BigInt(layout.epochMs) * nsPerMsBig + BigInt(ticks) * BigInt(layout.tickNs),
    bits: bitGroups(layout, id),
  };
}

function ifAny(place: FieldPlace, value: number): number | undefined {
  return place.bits === 0 ? undefined : value;
}

function malformed(layout: Layout, id: bigint, why: string): IdError {
  return new IdError("MALFORMED_ID", `The ID ${id} ${why}.`, { metadata: { id, layout: layout.name } });
}

function bitGroups(layout: Layout, id: bigint): string {
  const digits = id.toString(2).padStart(64, "0");
  const groups = [digits.slice(0, 1)];
  let at = 64 - layout.bits;
  if (at > 1) groups.push(digits.slice(1, at));
  for (const { bits } of layout.fields) {
    groups.push(digits.slice(at, at + bits));
    at += bits;
  }
  return groups.join(" ");
}
