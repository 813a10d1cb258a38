/** Header blocks to fields: RFC 7541 sections 3, 5 and 6. */
import { ConnectionError, errorCode } from "./error-code.ts";
import { Field } from "./field.ts";
import { DynamicTable, staticTable } from "./hpack-tables.ts";
import { decodeHuffman } from "./huffman.ts";

/** Blocks up to this length are remembered, to be recognized when they come again. */
const rememberedBytesMax = 256;
/**
 * A list this many times over its limit is no longer a client with much to say. Decoding stops, and with it the
 * connection.
 */
const excessFactor = 8;
/** The smallest size since the last block, then the final one: RFC 7541 section 4.2. */
const sizeUpdatesMax = 2;

/**
 * Decodes the header blocks of one connection in the order in which they arrive. Each one must be decoded, also that of
 * a refused stream: the table is shared (RFC 7541 section 2.2).
 */
export class HpackDecoder {
  readonly #table = new DynamicTable();
  readonly #listBytesMax: number;
  readonly #countMax: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  // The last block that left the table as it was. The same bytes mean the same fields for as long as the table does not
  // change.
  #lastBlock: Buffer | undefined;
  #lastLength = 0;
  #lastChangeCount = -1;
  #lastFields: readonly Field[] = [];

  /**
   * @param listBytesMax - The most that the fields of one block may weigh, as SETTINGS_MAX_HEADER_LIST_SIZE counts.
   * @param countMax - The most fields that one block may have.
   */
  constructor(listBytesMax: number, countMax: number) {
    this.#listBytesMax = listBytesMax;
    this.#countMax = countMax;
  }

  /**
   * Decodes the block in `bytes` from `start` to `end`, exclusive.
   *
   * Returns its fields, the very same array where the same block came again; undefined if they are more, or weigh more,
   * than the limit, in which case the table is right none the less. Keeps nothing of `bytes`.
   *
   * @throws ConnectionError COMPRESSION_ERROR if the block is malformed, or many times over the limit.
   */
  decode(bytes: Buffer, start: number, end: number): readonly Field[] | undefined {
    const { changeCount } = this.#table;
    if (changeCount === this.#lastChangeCount && this.#isLastBlock(bytes, start, end)) return this.#lastFields;
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    const fields = this.#fields();
    if (fields !== undefined && this.#table.changeCount === changeCount && end - start <= rememberedBytesMax) {
      this.#lastBlock ??= Buffer.allocUnsafeSlow(rememberedBytesMax);
      this.#lastLength = bytes.copy(this.#lastBlock, 0, start, end);
      this.#lastChangeCount = changeCount;
      this.#lastFields = fields;
    }
    return fields;
  }

  #isLastBlock(bytes: Buffer, start: number, end: number): boolean {
    const length = this.#lastLength;
    if (end - start !== length) return false;
    const last = this.#lastBlock!;
    for (let index = 0; index < length; index++) if (last[index] !== bytes[start + index]) return false;
    return true;
  }

  #fields(): readonly Field[] | undefined {
    const fields: Field[] = [];
    let weightBytes = 0;
    let count = 0;
    let sizeUpdatesLeft = sizeUpdatesMax;
    while (this.#at < this.#end) {
      const first = this.#bytes[this.#at]!;
      if (first >= 0x20 && first < 0x40) {
        if (sizeUpdatesLeft-- <= 0) throw compressionError("a table size update follows a field or two others");
        this.#table.resize(this.#integer(5));
        continue;
      }
      sizeUpdatesLeft = 0;
      const field = this.#field(first);
      weightBytes += field.weightBytes;
      count++;
      if (weightBytes <= this.#listBytesMax && count <= this.#countMax) fields.push(field);
      else if (weightBytes > this.#listBytesMax * excessFactor)
        throw compressionError("a header list is far too large");
    }
    return fields.length < count ? undefined : fields;
  }

  #field(first: number): Field {
    if (first >= 0x80) return this.#entry(this.#integer(7));
    if (first < 0x40) return this.#literal(4);
    const field = this.#literal(6);
    this.#table.insert(field);
    return field;
  }

  #literal(prefixBits: number): Field {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#string() : this.#entry(index).name;
    return new Field(name, this.#string());
  }

  #entry(index: number): Field {
    const field = index < staticTable.length ? staticTable[index] : this.#table.at(index - staticTable.length);
    if (field === undefined) throw compressionError("an index points at no entry");
    return field;
  }

  /** Section 5.1, up to 28 bits after the prefix: nothing that we could accept is larger. */
  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    if (this.#at >= this.#end) throw compressionError("an integer is cut short");
    let value = this.#bytes[this.#at++]! & mask;
    if (value < mask) return value;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= this.#end) throw compressionError("an integer is cut short");
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw compressionError("an integer is too long");
  }

  #string(): string {
    const isHuffman = this.#at < this.#end && this.#bytes[this.#at]! >= 0x80;
    const length = this.#integer(7);
    if (length === 0) return "";
    const start = this.#at;
    if (length > this.#end - start) throw compressionError("a string is cut short");
    this.#at += length;
    return isHuffman ? decodeHuffman(this.#bytes, start, this.#at) : this.#bytes.toString("latin1", start, this.#at);
  }
}

function compressionError(message: string): ConnectionError {
  return new ConnectionError(errorCode.compressionError, message);
}
