/** Writes the few parts of protobuf's wire format that the responses of hot methods have. */
import { IdWords } from "../../snowflake/id-words.ts";
import { prefixBytes } from "./hot-method.ts";

/** Field 1 as fixed64; field 2 as varint; field 3 as fixed64: number of the field times eight, plus the wire type. */
export const field1Fixed64 = 0x09;
export const field1Bytes = 0x0a;
export const field3Fixed64 = 0x19;
/** Fields 2, 3 and 4 as fixed32. */
export const field2Fixed32 = 0x15;
export const field3Fixed32 = 0x1d;
export const field4Fixed32 = 0x25;
/** The bytes of a fixed32 with its tag. */
export const fixed32Bytes = 5;

const words = new IdWords();

/** Writes the prefix of a framed message: a byte 0 for "not compressed", and its length in four bytes. */
export function writePrefix(bytes: Buffer, at: number, messageBytes: number): void {
  bytes[at] = 0;
  bytes[at + 1] = messageBytes >>> 24;
  bytes[at + 2] = messageBytes >>> 16;
  bytes[at + 3] = messageBytes >>> 8;
  bytes[at + 4] = messageBytes;
}

/** Puts the prefix of an envelope before bytes: flags, and the length in four bytes. */
export function withPrefix(flags: number, bytes: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(prefixBytes + bytes.length);
  writePrefix(whole, 0, bytes.length);
  whole[0] = flags;
  whole.set(bytes, prefixBytes);
  return whole;
}

/** Writes eight bytes, lowest first, and returns where they end. */
export function writeFixed64(bytes: Buffer, at: number, value: bigint): number {
  words.id = value;
  writeUint32(bytes, at, words.low);
  writeUint32(bytes, at + 4, words.high);
  return at + 8;
}

/** Writes a field of fixed32, or nothing if it is 0, and returns where it ends. */
export function writeFixed32Field(bytes: Buffer, at: number, tag: number, value: number): number {
  if (value === 0) return at;
  bytes[at] = tag;
  writeUint32(bytes, at + 1, value);
  return at + fixed32Bytes;
}

function writeUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** The bytes that {@link writeVarint} takes. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

/** Writes a number below 2^32, and returns where it ends. */
export function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}

/** The most bytes of an int64 that is not negative. */
export const int64BytesMax = 9;

/** Writes a number of 0 to 2^63 - 1 as a varint, and returns where it ends. By words: BigInt arithmetic is slow. */
export function writeInt64(bytes: Buffer, start: number, value: bigint): number {
  words.id = value;
  return writeWords(bytes, start, words.low, words.high);
}

/** As {@link writeInt64}, for a number given as two halves. */
export function writeWords(bytes: Buffer, start: number, lowHalf: number, highHalf: number): number {
  let at = start;
  let low = lowHalf;
  let high = highHalf;
  while (high > 0 || low > 0x7f) {
    bytes[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  bytes[at++] = low;
  return at;
}
