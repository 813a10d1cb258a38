import { IdError } from "../errors.ts";
import { IdWords } from "./id-words.ts";
import { nsPerMs } from "./nanoseconds.ts";

/** The kinds of a layout's fields. */
export const layoutFieldKinds = ["timestamp", "datacenter", "worker", "sequence"] as const;

/** One of {@link layoutFieldKinds}. */
export type LayoutFieldKind = (typeof layoutFieldKinds)[number];

/** One field of a layout. */
export interface LayoutField {
  readonly kind: LayoutFieldKind;
  /** Width, 1 to 62. */
  readonly bits: number;
}

/** The definition of a layout: its epoch, its unit of time and its fields. */
export interface LayoutSpec {
  /** Name of a preset, or `custom`. */
  readonly name: string;
  /**
   * Zero point of time: Unix milliseconds, whole, from 0001-01-01 to 9999-12-31 (what google.protobuf.Timestamp can
   * carry).
   */
  readonly epochMs: number;
  /**
   * Unit of the timestamp field in nanoseconds, 1,000 (1 us) to 3.6e12 (1 h): a divisor of one millisecond, or whole
   * milliseconds.
   */
  readonly tickNs: number;
  /**
   * The fields from the highest bit down; the lowest ends at bit 0. A timestamp is needed; each kind at most once; at
   * most 63 bits in all.
   */
  readonly fields: readonly LayoutField[];
}

/** The position of a field in the 64 bits of an ID. */
export interface FieldPlace {
  readonly bits: number;
  /** Bits below it. */
  readonly shift: number;
  /** Its highest value, inclusive: 2^bits - 1; for a timestamp the last tick of the layout's life. */
  readonly max: number;
}

/** How the 63 bits of an ID are divided: a value, made by {@link createLayout} and never changed. */
export interface Layout extends LayoutSpec {
  /** Width of all fields together, 1 to 63. */
  readonly bits: number;
  readonly timestamp: FieldPlace;
  /** `bits` and `max` are 0 if the layout has no such field; this also applies to the two below. */
  readonly datacenter: FieldPlace;
  readonly worker: FieldPlace;
  readonly sequence: FieldPlace;
  /** Distance between IDs that differ by 1 in the sequence. */
  readonly stride: bigint;
  /** How many processes the layout can distinguish: datacenter and worker together. */
  readonly workerCount: number;
  /** First millisecond after the layout's life: Unix milliseconds. No ID carries a time at or above it. */
  readonly endMs: number;
}

/** The parts of an ID. */
export interface IdParts {
  /** Ticks since the epoch, 0 to `layout.timestamp.max`. */
  readonly ticks: number;
  /** 0 to `layout.datacenter.max`; 0 where the layout has no such field. */
  readonly datacenterId: number;
  /** 0 to `layout.worker.max`. */
  readonly workerId: number;
  /** 0 to `layout.sequence.max`. */
  readonly sequence: number;
}

/** 0001-01-01 and 9999-12-31T23:59:59.999Z: what google.protobuf.Timestamp can carry. */
const timestampFirstMs = -62_135_596_800_000;
const timestampLastMs = 253_402_300_799_999;
const tickNsMin = 1_000;
const tickNsMax = 3_600_000 * nsPerMs;

/**
 * Makes a frozen layout from its fields, epoch and tick.
 *
 * The life of a layout ends with its timestamp field, with the year 9999, or at 2^53 - 1 ticks, whichever is first.
 *
 * @throws IdError INVALID_LAYOUT, with what is wrong in the message and the value in the metadata.
 */
export function createLayout(spec: LayoutSpec): Layout {
  checkNumbers(spec);
  const places = placeFields(spec.fields);
  const empty: FieldPlace = { bits: 0, shift: 0, max: 0 };
  const { timestamp, datacenter = empty, worker = empty, sequence = empty } = places;
  const lastTick = msToTicksDown(spec, timestampLastMs);
  const max = Math.min(timestamp.max, lastTick, Number.MAX_SAFE_INTEGER);
  const layout: Layout = {
    name: spec.name,
    epochMs: spec.epochMs,
    tickNs: spec.tickNs,
    fields: Object.freeze(spec.fields.map(({ kind, bits }) => Object.freeze({ kind, bits }))),
    bits: spec.fields.reduce((sum, { bits }) => sum + bits, 0),
    timestamp: Object.freeze({ ...timestamp, max }),
    datacenter: Object.freeze(datacenter),
    worker: Object.freeze(worker),
    sequence: Object.freeze(sequence),
    stride: 1n << BigInt(sequence.shift),
    workerCount: 2 ** (datacenter.bits + worker.bits),
    endMs: ticksToMsUp(spec, max + 1),
  };
  return Object.freeze(layout);
}

function invalid(message: string, metadata: Readonly<Record<string, string | number>>): IdError {
  return new IdError("INVALID_LAYOUT", message, { metadata });
}

function checkNumbers({ epochMs, tickNs }: LayoutSpec): void {
  if (!Number.isInteger(epochMs) || epochMs < timestampFirstMs || epochMs > timestampLastMs) {
    throw invalid(`The epoch ${epochMs} ms is not a whole Unix millisecond from year 1 to year 9999.`, {
      epoch_ms: epochMs,
    });
  }
  const divides = nsPerMs % tickNs === 0 || tickNs % nsPerMs === 0;
  if (!Number.isInteger(tickNs) || tickNs < tickNsMin || tickNs > tickNsMax || !divides) {
    const kinds = "from 1 us to 1 h, and either divide one millisecond or be whole milliseconds";
    const message = `The tick of ${tickNs} ns must be ${kinds}.`;
    throw invalid(message, { tick_ns: tickNs });
  }
}

type FieldPlaces = Partial<Record<LayoutFieldKind, FieldPlace>> & { readonly timestamp: FieldPlace };

function placeFields(fields: readonly LayoutField[]): FieldPlaces {
  const places: Partial<Record<LayoutFieldKind, FieldPlace>> = {};
  let shift = 0;
  for (const { kind, bits } of fields.toReversed()) {
    // Types do not guarantee what a configuration file contains.
    if (!layoutFieldKinds.includes(kind)) throw invalid(`There is no field kind ${kind}.`, { field: kind });
    if (!Number.isInteger(bits) || bits < 1 || bits > 62) {
      throw invalid(`The ${kind} field has ${bits} bits; 1 to 62 are possible.`, { field: kind, bits });
    }
    if (places[kind] !== undefined) throw invalid(`The ${kind} field occurs twice.`, { field: kind });
    places[kind] = { bits, shift, max: 2 ** bits - 1 };
    shift += bits;
  }
  const { timestamp } = places;
  if (timestamp === undefined) throw invalid("The layout has no timestamp field.", { field: "timestamp" });
  if (shift > 63) throw invalid(`The fields take ${shift} bits; at most 63 are possible.`, { bits: shift });
  for (const kind of ["datacenter", "worker", "sequence"] as const) {
    const place = places[kind];
    if (place !== undefined && place.bits > 32) {
      throw invalid(`The ${kind} field has ${place.bits} bits; at most 32 are possible.`, {
        field: kind,
        bits: place.bits,
      });
    }
  }
  const identityBits = (places.datacenter?.bits ?? 0) + (places.worker?.bits ?? 0);
  if (identityBits > 32)
    throw invalid(`Datacenter and worker take ${identityBits} bits; at most 32 are possible.`, { bits: identityBits });
  return { ...places, timestamp };
}

/** Composes an ID from its parts, which must be in their ranges; see {@link IdParts}. */
export function composeId(layout: Layout, parts: IdParts): bigint {
  return (
    (BigInt(parts.ticks) << BigInt(layout.timestamp.shift)) |
    (BigInt(parts.datacenterId) << BigInt(layout.datacenter.shift)) |
    (BigInt(parts.workerId) << BigInt(layout.worker.shift)) |
    (BigInt(parts.sequence) << BigInt(layout.sequence.shift))
  );
}

/** The ID that is being decomposed. */
const words = new IdWords();

/** Splits an ID into its parts. Bits that belong to no field are dropped: parse.ts refuses IDs with such bits. */
export function decomposeId(layout: Layout, id: bigint): IdParts {
  words.id = id;
  return {
    ticks: partOf(layout.timestamp),
    datacenterId: partOf(layout.datacenter),
    workerId: partOf(layout.worker),
    sequence: partOf(layout.sequence),
  };
}

/** The value of a field in {@link words}, by its 32 lowest bits and those above them. */
function partOf({ bits, shift }: FieldPlace): number {
  const { low, high } = words;
  let lowest = low;
  if (shift >= 32) lowest = high >>> (shift - 32);
  else if (shift > 0) lowest = (low >>> shift) | (high << (32 - shift));
  if (bits <= 32) return (lowest & (2 ** bits - 1)) >>> 0;
  // Only a timestamp has more than 32 bits, and then it begins in the lower half.
  return ((high >>> shift) & (2 ** (bits - 32) - 1)) * 2 ** 32 + (lowest >>> 0);
}

/** The two fields of a layout that relate ticks to time, for the conversions below. */
export type TimeScale = Pick<LayoutSpec, "epochMs" | "tickNs">;

/** The tick in which a Unix millisecond begins, rounded down. Negative before the epoch. */
export function msToTicksDown(layout: TimeScale, unixMs: number): number {
  const sinceEpochMs = unixMs - layout.epochMs;
  return layout.tickNs >= nsPerMs
    ? Math.floor(sinceEpochMs / (layout.tickNs / nsPerMs))
    : sinceEpochMs * (nsPerMs / layout.tickNs);
}

/**
 * The first tick that begins at or after a Unix millisecond. For marks: a mark in milliseconds bounds every tick below
 * this one.
 */
export function msToTicksUp(layout: TimeScale, unixMs: number): number {
  const sinceEpochMs = unixMs - layout.epochMs;
  return layout.tickNs >= nsPerMs
    ? Math.ceil(sinceEpochMs / (layout.tickNs / nsPerMs))
    : sinceEpochMs * (nsPerMs / layout.tickNs);
}

/** The Unix millisecond in which a tick begins, rounded down. */
export function ticksToMsDown(layout: TimeScale, ticks: number): number {
  return (
    layout.epochMs +
    (layout.tickNs >= nsPerMs ? ticks * (layout.tickNs / nsPerMs) : Math.floor(ticks / (nsPerMs / layout.tickNs)))
  );
}

/** The first Unix millisecond at or after the beginning of a tick. */
export function ticksToMsUp(layout: TimeScale, ticks: number): number {
  return (
    layout.epochMs +
    (layout.tickNs >= nsPerMs ? ticks * (layout.tickNs / nsPerMs) : Math.ceil(ticks / (nsPerMs / layout.tickNs)))
  );
}
