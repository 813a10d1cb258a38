import { type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** Reads a message as JSON and gives it in protobuf's binary form, which is lent; undefined if it is not plain. */
export type JsonReader = (bytes: Buffer, start: number, end: number) => Buffer | undefined;

interface PlainField {
  readonly name: Buffer;
  /** Number of the field times eight, plus the wire type: below 128. */
  readonly tag: number;
  /** One bit for each field. */
  readonly bit: number;
  readonly scalar: ScalarType.UINT32 | ScalarType.UINT64 | ScalarType.STRING;
}

/** A longer message is left to protobuf-es. */
const jsonBytesMax = 4_096;
const fieldNumberMax = 15;
const uint32Max = 0xffff_ffff;
const digitsMax = 15;
const [space, quote, comma, zero, colon, opening, closing] = [0x20, 0x22, 0x2c, 0x30, 0x3a, 0x7b, 0x7d];
const isInName = bytesOf(/\w/);
const isInString = bytesOf(/[\w./-]/);
const isDigit = bytesOf(/\d/);
const empty: Buffer = Buffer.alloc(0);
/** The message that was read last. No message is longer than its JSON. */
const written = Buffer.allocUnsafeSlow(jsonBytesMax);

function bytesOf(pattern: RegExp): readonly boolean[] {
  return Array.from({ length: 256 }, (_, byte) => pattern.test(String.fromCharCode(byte)));
}

/**
 * Makes the reader of a message's plain JSON: `{}`, or flat members that hold whole numbers of up to 15 digits, quoted
 * or not, or short strings; a space may follow a colon and a comma. Everything else is left to protobuf-es: members
 * that come twice, unknown members, null, other numbers, escapes, other white space.
 */
export function createJsonReader(message: DescMessage): JsonReader {
  const fields: PlainField[] = [];
  for (const { fieldKind, scalar, number, name, jsonName } of message.fields) {
    if (fieldKind !== "scalar" || number > fieldNumberMax) continue;
    if (scalar !== ScalarType.UINT32 && scalar !== ScalarType.UINT64 && scalar !== ScalarType.STRING) continue;
    const tag = (number << 3) | (scalar === ScalarType.STRING ? 2 : 0);
    for (const key of new Set([name, jsonName])) fields.push({ name: Buffer.from(key), tag, bit: 1 << number, scalar });
  }
  return (bytes, start, end) => {
    const length = end - start;
    if (length < 2 || length > jsonBytesMax || bytes[start] !== opening || bytes[end - 1] !== closing) return undefined;
    return length === 2 ? empty : readMembers(fields, bytes, start + 1, end - 1);
  };
}

/** Reads the members between the braces. The closing brace ends every scan, because no name or value contains one. */
function readMembers(fields: readonly PlainField[], bytes: Buffer, start: number, end: number): Buffer | undefined {
  let seen = 0;
  let length = 0;
  for (let at = start; ; ) {
    const nameEnd = endOf(isInName, bytes, at + 1);
    if (bytes[at] !== quote || bytes[nameEnd] !== quote || bytes[nameEnd + 1] !== colon) return undefined;
    const field = fieldOf(fields, bytes, at + 1, nameEnd);
    if (field === undefined || (seen & field.bit) !== 0) return undefined;
    seen |= field.bit;
    at = nameEnd + (bytes[nameEnd + 2] === space ? 3 : 2);
    const isQuoted = bytes[at] === quote;
    if (isQuoted) at++;
    const valueEnd = endOf(field.scalar === ScalarType.STRING ? isInString : isDigit, bytes, at);
    if (isQuoted ? bytes[valueEnd] !== quote : field.scalar === ScalarType.STRING) return undefined;
    written[length++] = field.tag;
    if (field.scalar === ScalarType.STRING) {
      length = writeVarint(length, valueEnd - at);
      length += bytes.copy(written, length, at, valueEnd);
    } else {
      const value = readDigits(bytes, at, valueEnd);
      if (value === undefined || (field.scalar === ScalarType.UINT32 && value > uint32Max)) return undefined;
      length = writeVarint(length, value);
    }
    at = isQuoted ? valueEnd + 1 : valueEnd;
    if (at === end) return written.subarray(0, length);
    if (bytes[at] !== comma) return undefined;
    at += bytes[at + 1] === space ? 2 : 1;
  }
}

/** Finds a field by the bytes of its name: a string for each name would take as long as everything else here. */
function fieldOf(fields: readonly PlainField[], bytes: Buffer, start: number, end: number): PlainField | undefined {
  for (const field of fields) {
    const { name } = field;
    let index = 0;
    while (index < name.length && name[index] === bytes[start + index]) index++;
    if (index === name.length && start + index === end) return field;
  }
  return undefined;
}

/** The position of the first byte that is not one of these. */
function endOf(these: readonly boolean[], bytes: Buffer, start: number): number {
  let at = start;
  while (these[bytes[at]!] === true) at++;
  return at;
}

/** Undefined if there are no digits, too many, or a leading zero. */
function readDigits(bytes: Buffer, start: number, end: number): number | undefined {
  const count = end - start;
  if (count === 0 || count > digitsMax || (count > 1 && bytes[start] === zero)) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + bytes[at]! - zero;
  return value;
}

/** Returns the position after it. */
function writeVarint(start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) written[at++] = (rest % 128) | 0x80;
  written[at++] = rest;
  return at;
}
