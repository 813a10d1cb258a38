/**
 * Reads the requests of the hot methods of sequences: a name in field 1, and numbers in fields 2 and 3. A request that
 * is not plain is undefined; protobuf-es then reads it.
 */
import type { ValueSource } from "../../sequence/value-source.ts";
import { field2Varint } from "./read-varints.ts";
import type { ValueOptions } from "./issue-values.ts";
import { field1Bytes } from "./write-protobuf.ts";

/** Field 3 as varint: number of the field times eight. */
export const field3Varint = 0x18;
const nameBytesMax = 63;

/** A request whose sequence is in memory. */
export interface NamedRequest {
  readonly source: ValueSource;
  /** Fields 2 and 3: 0 to 2^53 - 1, 0 if absent. */
  readonly count: number;
  readonly size: number;
}

/** Finds the sequence whose name begins a message, if it is in memory and its values have neither text nor period. */
export function findNamed({ sequences }: ValueOptions, message: Buffer): ValueSource | undefined {
  const end = nameEnd(message);
  if (end === undefined) return undefined;
  const source = sequences.findByBytes(message, 2, end);
  return source?.isPlain === true ? source : undefined;
}

/** The end of the name at the beginning of a message; undefined if the message does not begin with a name. */
export function nameEnd(message: Buffer): number | undefined {
  const length = message[1]!;
  if (message.length < 3 || message[0] !== field1Bytes || length === 0 || length > nameBytesMax) return undefined;
  return length + 2 <= message.length ? length + 2 : undefined;
}

/**
 * Reads a name and the numbers after it, each at most once and in order.
 *
 * @param lastTag - The highest tag that may occur.
 */
export function readNamed(options: ValueOptions, message: Buffer, lastTag: number): NamedRequest | undefined {
  let at = nameEnd(message);
  if (at === undefined) return undefined;
  const numbers = [0, 0];
  for (let tag = field2Varint; at < message.length; tag += 8) {
    if (tag > lastTag) return undefined;
    // A field may be missing.
    if (message[at] !== tag) continue;
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      if (++at === message.length || scale > 2 ** 49) return undefined;
      byte = message[at]!;
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
    numbers[(tag >>> 3) - 2] = value;
    at++;
  }
  const source = findNamed(options, message);
  return source === undefined ? undefined : { source, count: numbers[0]!, size: numbers[1]! };
}
