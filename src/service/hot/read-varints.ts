/**
 * Reads the flat requests of the hot methods. A request that is not plain is undefined; protobuf-es then reads it.
 */

/** Numbers of the fields times eight; their wire type, varint, is 0. */
export const field1Varint = 0x08;
export const field2Varint = 0x10;
export const uint32Max = 0xffff_ffff;

/**
 * The values of fields 1 and 2, each the last of its kind, 0 if absent. @param lastTag - The highest tag that may
 * occur.
 */
export function readVarints(message: Buffer, lastTag: number): readonly [number, number] | undefined {
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
