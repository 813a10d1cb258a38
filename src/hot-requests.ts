/**
 * Reads the flat requests of the hot methods. What they do not take for plain is undefined, and protobuf-es reads it
 * instead.
 */

/** A BatchNextIdsRequest without texts. */
export interface PlainBatchRequest {
  /** 0 to 2^53 - 1. */
  readonly count: number;
  /** 0 to 2^32 - 1. */
  readonly chunkSize: number;
}

/** Numbers of the fields times eight; their wire type, varint, is 0. */
const field1Varint = 0x08;
const field2Varint = 0x10;
const uint32Max = 0xffff_ffff;

/** The count of a ReserveIdsRequest; undefined if it has any other field, or numbers written in an odd way. */
export function readReserveRequest(message: Buffer): number | undefined {
  const fields = readVarints(message, field1Varint);
  return fields !== undefined && fields[0] <= uint32Max ? fields[0] : undefined;
}

/** A BatchNextIdsRequest; undefined if it has any other field, or numbers written in an odd way. */
export function readBatchRequest(message: Buffer): PlainBatchRequest | undefined {
  const fields = readVarints(message, field2Varint);
  if (fields === undefined || fields[1] > uint32Max) return undefined;
  return { count: fields[0], chunkSize: fields[1] };
}

/**
 * The values of fields 1 and 2, each the last of its kind, 0 where there is none. @param lastTag - The highest tag that
 * may occur.
 */
function readVarints(message: Buffer, lastTag: number): readonly [number, number] | undefined {
  const values: [number, number] = [0, 0];
  let at = 0;
  while (at < message.length) {
    const tag = message[at++]!;
    if ((tag !== field1Varint && tag !== field2Varint) || tag > lastTag) return undefined;
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      if (at === message.length || scale > 2 ** 49) return undefined;
      byte = message[at++]!;
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
    values[tag === field1Varint ? 0 : 1] = value;
  }
  return values;
}
