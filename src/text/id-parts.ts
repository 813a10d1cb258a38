import { IdError } from "../errors.ts";
import { IdWords } from "../snowflake/id-words.ts";
import type { FieldPlace, IdParts, Layout } from "../snowflake/layout.ts";
import { checkId } from "./text-form.ts";

const words = new IdWords();

/** Takes the IDs of one layout apart, in halves of plain numbers: texts are written by the million. */
export interface IdReader {
  /** The parts of an ID; undefined if a bit is set that belongs to no field, or the time is past the layout's life. */
  readonly tryRead: (id: bigint) => IdParts | undefined;
  /** The same. @throws IdError MALFORMED_ID where that gives undefined. */
  readonly read: (id: bigint) => IdParts;
}

/** Makes the reader of a layout. */
export function createIdReader(layout: Layout): IdReader {
  const end = 2n ** BigInt(layout.bits);
  const ticksOf = fieldReader(layout.timestamp);
  const datacenterOf = fieldReader(layout.datacenter);
  const workerOf = fieldReader(layout.worker);
  const sequenceOf = fieldReader(layout.sequence);

  const tryRead = (id: bigint): IdParts | undefined => {
    if (id < 0n || id >= end) return undefined;
    words.id = id;
    const { high: top, low: bottom } = words;
    // A timestamp of more than 53 bits is rounded here, but only where it is past the layout's life by far.
    const ticks = ticksOf(top, bottom);
    if (ticks > layout.timestamp.max) return undefined;
    return {
      ticks,
      datacenterId: datacenterOf(top, bottom),
      workerId: workerOf(top, bottom),
      sequence: sequenceOf(top, bottom),
    };
  };
  const read = (id: bigint): IdParts => {
    const parts = tryRead(id);
    if (parts !== undefined) return parts;
    checkId(id);
    throw new IdError("MALFORMED_ID", "The ID does not fit this layout.", { metadata: { id, layout: layout.name } });
  };
  return { tryRead, read };
}

/** Makes the function that takes a field out of the two halves of an ID. */
function fieldReader({ bits, shift }: FieldPlace): (top: number, bottom: number) => number {
  const range = 2 ** bits;
  if (shift >= 32) return (top) => Math.floor(top / 2 ** (shift - 32)) % range;
  if (shift + bits <= 32) return (_, bottom) => (bottom >>> shift) % range;
  const topRange = 2 ** (shift + bits - 32);
  return (top, bottom) => (top % topRange) * 2 ** (32 - shift) + (bottom >>> shift);
}
