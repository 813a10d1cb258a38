import { type Layout, msToTicksUp, ticksToMsDown } from "../snowflake/layout.ts";
import { createIdReader } from "./id-parts.ts";
import { sha256 } from "./sha256.ts";
import { invalidTextFormat } from "./text-form.ts";
import { describeUuid } from "./uuid.ts";
import { nsPerMs } from "../snowflake/nanoseconds.ts";

/** UUIDs of version 7 that hold the IDs of one layout and namespace. */
export interface UuidCodec {
  /**
   * Bits that are equal in all of them: a UUID made elsewhere is taken for one of ours with a chance of at most
   * 2^-fillerBits.
   */
  readonly fillerBits: number;
  /**
   * Writes an ID as a UUID.
   *
   * @throws IdError MALFORMED_ID, INVALID_TEXT_FORMAT (an ID from before 1970, which version 7 cannot represent).
   */
  write(id: bigint): string;
  /** The ID that a UUID holds; undefined if it holds none of this layout and namespace. */
  idOf(uuid: bigint): bigint | undefined;
}

/** The bits that version 7 leaves free: rand_a and rand_b of RFC 9562 section 5.7. */
const randABits = 12;
const randBBits = 62;
const payloadBits = randABits + randBBits;
/** The last group of the text holds 48 bits of rand_b, the group before it 14. */
const tailBits = 48;
const frontBBits = randBBits - tailBits;
const frontBMask = 2 ** frontBBits - 1;
const versionBits = 0x7000;
const variantBits = 0x8000;

/**
 * Makes the UUIDs of a layout and namespace: the Unix millisecond of the ID's tick in 48 bits; then, in the 74 free
 * bits, the number of the tick within its millisecond (none for ticks of 1 ms or more), the ID's bits without its
 * timestamp, and a filler.
 *
 * Unique because the ID is. Sorts as the IDs of one worker do, and as all IDs of a layout whose timestamp is in the
 * highest bits. docs/adr/0032 says why the bits are divided so.
 */
export function createUuidCodec(layout: Layout, namespace: string): UuidCodec {
  const ids = createIdReader(layout);
  const ticksPerMs = layout.tickNs < nsPerMs ? nsPerMs / layout.tickNs : 1;
  const tickBits = ticksPerMs > 1 ? (ticksPerMs - 1).toString(2).length : 0;
  const { shift, bits } = layout.timestamp;
  const otherBits = layout.bits - bits;
  const fillerBits = payloadBits - tickBits - otherBits;
  const filler = fillerOf(layout, namespace, fillerBits);
  const timestampShift = BigInt(shift);
  const timestampIsHighest = layout.fields[0]?.kind === "timestamp";
  const aboveShift = BigInt(shift + bits);
  const otherShift = BigInt(fillerBits);
  const tickShift = BigInt(fillerBits + otherBits);

  // IDs come in the order of time: the part of the text that the millisecond makes is kept for the next one.
  let headMs = Number.NaN;
  let head = "";
  const headOf = (ms: number): string => {
    if (ms !== headMs) {
      if (ms < 0) throw invalidTextFormat("An ID from before 1970 cannot be written as a UUID.", { create_ms: ms });
      const hex = ms.toString(16).padStart(12, "0");
      head = `${hex.slice(0, 8)}-${hex.slice(8)}-`;
      headMs = ms;
    }
    return head;
  };

  // Where the last group is only filler, as under all presets except baidu, the bits before it are few enough for a
  // number.
  const tailBitsBig = BigInt(tailBits);
  const tailOfFiller = tailOf(filler);
  const fillerAboveTail = Number(filler >> tailBitsBig);
  const split = (tick: number, other: bigint): { readonly front: number; readonly tail: string } => {
    if (fillerBits >= tailBits) {
      const front = (tick * 2 ** otherBits + Number(other)) * 2 ** (fillerBits - tailBits) + fillerAboveTail;
      return { front, tail: tailOfFiller };
    }
    const payload = (BigInt(tick) << tickShift) | (other << otherShift) | filler;
    return { front: Number(payload >> tailBitsBig), tail: tailOf(payload) };
  };

  const write = (id: bigint): string => {
    const { ticks } = ids.read(id);
    const below = BigInt.asUintN(shift, id);
    const other = timestampIsHighest ? below : ((id >> aboveShift) << timestampShift) | below;
    const { front, tail } = split(ticks % ticksPerMs, other);
    // With version and variant in front, neither group can lack a digit.
    const groupA = (versionBits | (front >>> frontBBits)).toString(16);
    const groupB = (variantBits | (front & frontBMask)).toString(16);
    return `${headOf(ticksToMsDown(layout, ticks))}${groupA}-${groupB}-${tail}`;
  };

  const idOf = (uuid: bigint): bigint | undefined => {
    const { version, variant } = describeUuid(uuid);
    const payload = (((uuid >> 64n) & 0xfffn) << BigInt(randBBits)) | BigInt.asUintN(randBBits, uuid);
    const isOurs = BigInt.asUintN(fillerBits, payload) === filler;
    if (variant !== "rfc9562" || version !== 7 || !isOurs) return undefined;
    const ms = Number(uuid >> 80n);
    const wholeTicks = msToTicksUp(layout, ms);
    const tickOfMs = Number(payload >> tickShift);
    const ticks = wholeTicks + tickOfMs;
    if (ticksToMsDown(layout, wholeTicks) !== ms || tickOfMs >= ticksPerMs) return undefined;
    if (ticks < 0 || ticks > layout.timestamp.max) return undefined;
    const other = BigInt.asUintN(otherBits, payload >> otherShift);
    return ((other >> timestampShift) << aboveShift) | (BigInt(ticks) << timestampShift) | BigInt.asUintN(shift, other);
  };

  return { fillerBits, write, idOf };
}

function tailOf(payload: bigint): string {
  return BigInt.asUintN(tailBits, payload)
    .toString(16)
    .padStart(tailBits / 4, "0");
}

/** The leading bits of a hash over the layout, without its name, and the namespace. */
function fillerOf(layout: Layout, namespace: string, bits: number): bigint {
  const fields = layout.fields.map((field) => `${field.kind}:${field.bits}`).join(",");
  const seed = `snowlane uuid 1\n${layout.epochMs}\n${layout.tickNs}\n${fields}\n${namespace}`;
  const digest = sha256(new TextEncoder().encode(seed));
  const whole = digest.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  return whole >> BigInt(256 - bits);
}
