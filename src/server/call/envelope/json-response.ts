import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { IdWords } from "../../../snowflake/id-words.ts";

/** Writes a message, which begins at `start` in protobuf's binary form, as protobuf's JSON. */
export type JsonWriter = (bytes: Uint8Array, start: number) => string;

/** The value at a place of the message, as JSON. */
type ReadValue = (at: Cursor) => string;

const words = new IdWords();

/** A place in a message. */
interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/**
 * Makes the writer of a message's JSON, as https://protobuf.dev/programming-guides/json has it and protobuf-es writes
 * it. The message must be one that a hot method has written: fields in order, none with its default, and of the kinds
 * that the hot methods' responses have.
 */
export function createJsonWriter(message: DescMessage): JsonWriter {
  const write = messageWriter(message);
  return (bytes, start) => write({ bytes, at: start }, bytes.length);
}

function messageWriter(message: DescMessage): (cursor: Cursor, end: number) => string {
  const fields = new Map(
    message.fields.map((field) => [field.number, { name: JSON.stringify(field.jsonName), ...readerOf(field) }]),
  );
  return (cursor, end) => {
    let text = "{";
    let list = 0;
    while (cursor.at < end) {
      const tag = readVarint(cursor);
      const { name, isList, read } = fields.get(tag >>> 3)!;
      const isNext = isList && list === tag;
      if (list !== 0 && !isNext) text += "]";
      if (!isNext) text += `${text === "{" ? "" : ","}${name}:${isList ? "[" : ""}`;
      else text += ",";
      list = isList ? tag : 0;
      text += read(cursor);
    }
    return `${text}${list === 0 ? "" : "]"}}`;
  };
}

function readerOf(field: DescField): { readonly isList: boolean; readonly read: ReadValue } {
  switch (field.fieldKind) {
    case "scalar":
      return { isList: false, read: scalarReader(field.scalar) };
    case "enum":
      return { isList: false, read: (cursor) => JSON.stringify(field.enum.value[readVarint(cursor)]!.name) };
    case "list":
      if (field.listKind === "message") return { isList: true, read: nested(messageWriter(field.message)) };
      // Packed: all of them in one value.
      if (field.listKind === "scalar") return { isList: true, read: packed(scalarReader(field.scalar)) };
      return { isList: true, read: unexpected };
    case "map":
    case "message":
      return { isList: false, read: unexpected };
  }
}

function scalarReader(scalar: ScalarType): ReadValue {
  if (scalar === ScalarType.FIXED64) return readFixed64;
  if (scalar === ScalarType.INT64) return readInt64;
  return scalar === ScalarType.UINT32 ? (cursor) => String(readVarint(cursor)) : unexpected;
}

function nested(write: (cursor: Cursor, end: number) => string): ReadValue {
  return (cursor) => {
    const length = readVarint(cursor);
    return write(cursor, cursor.at + length);
  };
}

function packed(read: ReadValue): ReadValue {
  return (cursor) => {
    const length = readVarint(cursor);
    const end = cursor.at + length;
    let text = read(cursor);
    while (cursor.at < end) text += `,${read(cursor)}`;
    return text;
  };
}

/** Numbers of 64 bits are strings in JSON: a reader's numbers would lose digits. */
function readFixed64(cursor: Cursor): string {
  words.low = readFixed32(cursor);
  words.high = readFixed32(cursor);
  return `"${words.id}"`;
}

function readFixed32(cursor: Cursor): number {
  const { bytes, at } = cursor;
  cursor.at += 4;
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Not negative. */
function readInt64(cursor: Cursor): string {
  let low = 0;
  let high = 0;
  for (let index = 0; ; index++) {
    const byte = cursor.bytes[cursor.at++]!;
    // Seven bytes are 49 bits, which a number holds exactly; so are the two that may follow.
    if (index < 7) low += (byte & 0x7f) * 128 ** index;
    else high += (byte & 0x7f) * 128 ** (index - 7);
    if (byte < 0x80) return `"${high === 0 ? low : (BigInt(high) << 49n) + BigInt(low)}"`;
  }
}

/** Below 2^32. */
function readVarint(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = cursor.bytes[cursor.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function unexpected(): never {
  throw new Error("a hot method has written a field of a kind that none has");
}
