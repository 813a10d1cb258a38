import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { prefixBytes } from "../../../service/hot/hot-method.ts";
import { writePrefix } from "../../../service/hot/write-protobuf.ts";

/**
 * Writes a message, which begins at `start` in protobuf's binary form, as protobuf's JSON. The result is framed as in
 * hot-method.ts, and lent: the next call of any writer overwrites it.
 */
export type JsonWriter = (bytes: Uint8Array, start: number) => Buffer;

/** Writes the value at a place of the message. */
type WriteValue = (from: Cursor) => void;

/** A place in a message. */
interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

const asciiOf = (text: string): Buffer => Buffer.from(text, "latin1");
const [quote, comma, zero, closingBracket, opening, closing] = [0x22, 0x2c, 0x30, 0x5d, 0x7b, 0x7d];
const nine = 1_000_000_000;
/** A larger buffer is not kept for the next message. */
const keptBytesMax = 65_536;

/** The JSON that was written last, in ASCII, as bytes: making a string, and then its bytes, takes twice as long. */
class JsonText {
  #bytes: Buffer = Buffer.allocUnsafeSlow(keptBytesMax);
  #length = 0;

  begin(): void {
    if (this.#bytes.length > keptBytesMax) this.#bytes = Buffer.allocUnsafeSlow(keptBytesMax);
    this.#length = prefixBytes;
  }

  end(): Buffer {
    writePrefix(this.#bytes, 0, this.#length - prefixBytes);
    return this.#bytes.subarray(0, this.#length);
  }

  addByte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = byte;
  }

  addText(ascii: Uint8Array): void {
    this.#makeRoom(ascii.length);
    for (let index = 0; index < ascii.length; index++) this.#bytes[this.#length++] = ascii[index]!;
  }

  /** Adds a number of 64 bits, by its halves of 32, in decimal: in groups of nine digits, because bigints are slow. */
  addDecimal(low: number, high: number): void {
    this.#makeRoom(20);
    const upper = high * 65_536 + (low >>> 16);
    const lower = (upper % nine) * 65_536 + (low & 0xffff);
    const rest = Math.floor(upper / nine) * 65_536 + Math.floor(lower / nine);
    if (rest >= nine) this.#addWhole(Math.floor(rest / nine));
    if (rest >= nine) this.#addDigits(rest % nine, 9);
    else if (rest > 0) this.#addWhole(rest);
    if (rest > 0) this.#addDigits(lower % nine, 9);
    else this.#addWhole(lower);
  }

  #addWhole(value: number): void {
    let count = 1;
    for (let power = 10; power <= value; power *= 10) count++;
    this.#addDigits(value, count);
  }

  #addDigits(value: number, count: number): void {
    const start = this.#length;
    this.#length += count;
    let rest = value;
    for (let at = this.#length - 1; at >= start; at--) {
      // `| 0` rounds this down correctly, because it is below 2^30.
      const next = (rest / 10) | 0;
      this.#bytes[at] = zero + rest - next * 10;
      rest = next;
    }
  }

  #makeRoom(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * this.#bytes.length);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const json = new JsonText();

/**
 * Makes the writer of a message's JSON, as https://protobuf.dev/programming-guides/json defines it and protobuf-es
 * writes it. The message must be one that a hot method has written: fields in order, none with its default, and of the
 * kinds that the hot methods' responses have.
 */
export function createJsonWriter(message: DescMessage): JsonWriter {
  const write = messageWriter(message);
  return (bytes, start) => {
    json.begin();
    write({ bytes, at: start }, bytes.length);
    return json.end();
  };
}

function messageWriter(message: DescMessage): (from: Cursor, end: number) => void {
  const fields = new Map(message.fields.map((field) => [field.number, fieldWriter(field)]));
  return (from, end) => {
    json.addByte(opening);
    let isFirst = true;
    let list = 0;
    while (from.at < end) {
      const tag = readVarint(from);
      const { name, isList, write } = fields.get(tag >>> 3)!;
      const isNext = isList && list === tag;
      if (list !== 0 && !isNext) json.addByte(closingBracket);
      if (!isFirst) json.addByte(comma);
      if (!isNext) json.addText(name);
      isFirst = false;
      list = isList ? tag : 0;
      write(from);
    }
    if (list !== 0) json.addByte(closingBracket);
    json.addByte(closing);
  };
}

interface FieldWriter {
  /** The name with its colon, and with the opening bracket of a list. */
  readonly name: Buffer;
  readonly isList: boolean;
  readonly write: WriteValue;
}

function fieldWriter(field: DescField): FieldWriter {
  const isList = field.fieldKind === "list";
  return { name: asciiOf(`"${field.jsonName}":${isList ? "[" : ""}`), isList, write: valueWriter(field) };
}

function valueWriter(field: DescField): WriteValue {
  switch (field.fieldKind) {
    case "scalar":
      return scalarWriter(field.scalar);
    case "enum": {
      const names = new Map(field.enum.values.map(({ number, name }) => [number, asciiOf(`"${name}"`)]));
      return (from) => json.addText(names.get(readVarint(from))!);
    }
    case "list":
      if (field.listKind === "message") return nested(messageWriter(field.message));
      // The list is packed: one value holds all of its numbers.
      return field.listKind === "scalar" ? packed(scalarWriter(field.scalar)) : unexpected;
    case "map":
    case "message":
      return unexpected;
  }
}

function scalarWriter(scalar: ScalarType): WriteValue {
  if (scalar === ScalarType.FIXED64) return writeFixed64;
  if (scalar === ScalarType.INT64) return writeInt64;
  if (scalar === ScalarType.FIXED32) return (from) => json.addDecimal(readFixed32(from), 0);
  return scalar === ScalarType.UINT32 ? (from) => json.addDecimal(readVarint(from), 0) : unexpected;
}

function nested(write: (from: Cursor, end: number) => void): WriteValue {
  return (from) => {
    const length = readVarint(from);
    write(from, from.at + length);
  };
}

function packed(write: WriteValue): WriteValue {
  return (from) => {
    const length = readVarint(from);
    const end = from.at + length;
    write(from);
    while (from.at < end) {
      json.addByte(comma);
      write(from);
    }
  };
}

/** Numbers of 64 bits are strings in JSON: a reader's numbers would lose digits. */
function writeQuoted(low: number, high: number): void {
  json.addByte(quote);
  json.addDecimal(low, high);
  json.addByte(quote);
}

function writeFixed64(from: Cursor): void {
  const low = readFixed32(from);
  writeQuoted(low, readFixed32(from));
}

function readFixed32(from: Cursor): number {
  const { bytes, at } = from;
  from.at += 4;
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Writes a number that is not negative. */
function writeInt64(from: Cursor): void {
  let low = 0;
  let high = 0;
  for (let index = 0; ; index++) {
    const byte = from.bytes[from.at++]!;
    // Seven bytes are 49 bits, which a number holds exactly; so are the two that may follow.
    if (index < 7) low += (byte & 0x7f) * 128 ** index;
    else high += (byte & 0x7f) * 128 ** (index - 7);
    if (byte < 0x80) break;
  }
  writeQuoted(low >>> 0, high * 131_072 + Math.floor(low / 2 ** 32));
}

/** Reads a number below 2^32. */
function readVarint(from: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = from.bytes[from.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function unexpected(): never {
  throw new Error("a hot method has written a field of a kind that none has");
}
