import { nsPerMsBig } from "../snowflake/nanoseconds.ts";
import { describeUuid, readUuid, timestampLastMs } from "./uuid.ts";

/** The text IDs of other generators that can be read. */
export const foreignKinds = ["ulid", "ksuid", "objectid", "xid", "typeid"] as const;

/** One of {@link foreignKinds}. */
type ForeignKind = (typeof foreignKinds)[number];

/** The parts of a text that another generator wrote. */
export interface ForeignText {
  readonly kind: ForeignKind;
  /** When it was made, in Unix nanoseconds; absent where the text shows no time, or one past the year 9999. */
  readonly createTimeNs?: bigint;
  /** The other parts by their names; bytes in hexadecimal, numbers in decimal. */
  readonly parts: Readonly<Record<string, string>>;
}

/** A kind's shape, and the reader of a text of that shape; undefined if the text is not of that kind after all. */
interface Reader {
  readonly shape: RegExp;
  readonly read: (text: string) => Omit<ForeignText, "kind"> | undefined;
}

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const base32Hex = "0123456789abcdefghijklmnopqrstuv";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 2014-05-13T16:53:20Z: https://github.com/segmentio/ksuid. */
const ksuidEpochSeconds = 1_400_000_000n;
/** Above the longest text of any kind: a TypeID of 90 characters. */
const lengthMax = 100;

const readers: Readonly<Record<ForeignKind, Reader>> = {
  // https://github.com/ulid/spec: 48 bits of milliseconds, 80 random bits. Lower-case letters are read as well.
  ulid: {
    shape: /^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/,
    read: (text) => {
      const bits = numberOf(text.toLowerCase(), crockford);
      return { ...timeOfMs(bits >> 80n), parts: { random: hexOf(bits, 10) } };
    },
  },
  // https://github.com/segmentio/ksuid: 32 bits of seconds, 16 random bytes.
  ksuid: {
    shape: /^[0-9A-Za-z]{27}$/,
    read: (text) => {
      const bits = numberOf(text, base62);
      if (bits >> 160n > 0n) return undefined;
      return { ...timeOfSeconds((bits >> 128n) + ksuidEpochSeconds), parts: { random: hexOf(bits, 16) } };
    },
  },
  // https://www.mongodb.com/docs/manual/reference/bson-types/#objectid: 32 bits of seconds, 5 random bytes of the
  // process, a counter of 24 bits.
  objectid: {
    shape: /^[0-9a-f]{24}$/,
    read: (text) => {
      const bits = BigInt(`0x${text}`);
      const parts = { random: hexOf(bits >> 24n, 5), counter: String(BigInt.asUintN(24, bits)) };
      return { ...timeOfSeconds(bits >> 64n), parts };
    },
  },
  // https://github.com/rs/xid: 32 bits of seconds, 3 bytes of the machine, 16 bits of the process, a counter of 24
  // bits; the last 4 bits of the text are 0.
  xid: {
    shape: /^[0-9a-v]{19}[0g]$/,
    read: (text) => {
      const bits = numberOf(text, base32Hex) >> 4n;
      const parts = {
        machine: hexOf(bits >> 40n, 3),
        process: String(BigInt.asUintN(16, bits >> 24n)),
        counter: String(BigInt.asUintN(24, bits)),
      };
      return { ...timeOfSeconds(bits >> 64n), parts };
    },
  },
  // https://github.com/jetify-com/typeid/tree/main/spec: a prefix and a UUID, which as a rule is of version 7.
  typeid: {
    shape: /^[a-z](?:[a-z_]{0,61}[a-z])?_[0-7][0-9a-hjkmnp-tv-z]{25}$/,
    read: (text) => {
      const separatorAt = text.lastIndexOf("_");
      const digits = hexOf(numberOf(text.slice(separatorAt + 1), crockford), 16);
      const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
      const { createTimeNs } = describeUuid(readUuid(uuid));
      const time = createTimeNs === undefined ? {} : { createTimeNs };
      return { ...time, parts: { prefix: text.slice(0, separatorAt), uuid } };
    },
  },
};

/**
 * Reads a text of another generator by its length and alphabet alone; undefined if it has none of their shapes. Digits
 * alone are always a number: a padded ID of 20 digits has the shape of an xid of 1970. The work is bounded whatever the
 * text's length.
 */
export function readForeignText(text: string): ForeignText | undefined {
  if (text.length > lengthMax || /^\d+$/.test(text)) return undefined;
  for (const kind of foreignKinds) {
    const { shape, read } = readers[kind];
    const parts = shape.test(text) ? read(text) : undefined;
    if (parts !== undefined) return { kind, ...parts };
  }
  return undefined;
}

/** The number of digits that are all of the alphabet. */
function numberOf(digits: string, alphabet: string): bigint {
  const base = BigInt(alphabet.length);
  return Array.from(digits).reduce((number, digit) => number * base + BigInt(alphabet.indexOf(digit)), 0n);
}

/** The lowest bytes of a number. */
function hexOf(bits: bigint, byteCount: number): string {
  return BigInt.asUintN(byteCount * 8, bits)
    .toString(16)
    .padStart(byteCount * 2, "0");
}

function timeOfSeconds(unixSeconds: bigint): { readonly createTimeNs?: bigint } {
  return timeOfMs(unixSeconds * 1_000n);
}

function timeOfMs(unixMs: bigint): { readonly createTimeNs?: bigint } {
  return unixMs > timestampLastMs ? {} : { createTimeNs: unixMs * nsPerMsBig };
}
