/** Header blocks to fields: RFC 7541 sections 3, 5 and 6. */
import { CompressionError } from "./compression-error.ts";
import { Field } from "./field.ts";
import { DynamicTable, staticTable } from "./tables.ts";
import { decodeHuffman } from "./huffman.ts";

/** Blocks up to this length are remembered, to be recognized when they come again. */
const rememberedBytesMax = 256;
/** A list this many times over its limit is an attack, not a large request. Decoding stops, and the connection ends. */
const excessFactor = 8;
/** The smallest size since the last block, then the final one: RFC 7541 section 4.2. */
const sizeUpdatesMax = 2;

/**
 * Decodes the header blocks of one connection in the order in which they arrive. Each one must be decoded, even that of
 * a refused stream, because the table is shared (RFC 7541 section 2.2). docs/adr/0041 explains why one block is
 * remembered.
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
  /** Whether the fields of the last block exceeded a limit, by their number or their size. */
  isCut = false;

  /**
   * @param listBytesMax - The largest total size of the fields of one block, as SETTINGS_MAX_HEADER_LIST_SIZE counts
   * it.
   * @param countMax - How many fields one block may have.
   */
  constructor(listBytesMax: number, countMax: number) {
    this.#listBytesMax = listBytesMax;
    this.#countMax = countMax;
  }

  /**
   * Decodes the block in `bytes` from `start` to `end`, exclusive.
   *
   * Returns its fields, the very same array if the same block came again. If they exceed a limit, by their number or
   * their size, it returns the first of them, and {@link HpackDecoder.isCut} is true. The table is right in either
   * case. Keeps no reference to `bytes`.
   *
   * @throws CompressionError if the block is malformed, or many times over the limit.
   */
  decode(bytes: Buffer, start: number, end: number): readonly Field[] {
    const { changeCount } = this.#table;
    this.isCut = false;
    if (changeCount === this.#lastChangeCount && this.#isLastBlock(bytes, start, end)) return this.#lastFields;
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    const fields = this.#fields();
    if (!this.isCut && this.#table.changeCount === changeCount && end - start <= rememberedBytesMax) {
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

  #fields(): readonly Field[] {
    const fields: Field[] = [];
    let sizeBytes = 0;
    let count = 0;
    let sizeUpdatesLeft = sizeUpdatesMax;
    while (this.#at < this.#end) {
      const first = this.#bytes[this.#at]!;
      if (first >= 0x20 && first < 0x40) {
        if (sizeUpdatesLeft-- <= 0) throw new CompressionError("a table size update follows a field or two others");
        this.#table.resize(this.#integer(5));
        continue;
      }
      sizeUpdatesLeft = 0;
      const field = this.#field(first);
      sizeBytes += field.sizeBytes;
      count++;
      if (sizeBytes <= this.#listBytesMax && count <= this.#countMax) fields.push(field);
      else if (sizeBytes > this.#listBytesMax * excessFactor)
        throw new CompressionError("a header list is far too large");
    }
    this.isCut = fields.length < count;
    return fields;
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
    if (field === undefined) throw new CompressionError("an index points at no entry");
    return field;
  }

  /** Section 5.1, up to 28 bits after the prefix: nothing that we could accept is larger. */
  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    if (this.#at >= this.#end) throw new CompressionError("an integer is cut short");
    let value = this.#bytes[this.#at++]! & mask;
    if (value < mask) return value;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= this.#end) throw new CompressionError("an integer is cut short");
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new CompressionError("an integer is too long");
  }

  #string(): string {
    const isHuffman = this.#at < this.#end && this.#bytes[this.#at]! >= 0x80;
    const length = this.#integer(7);
    if (length === 0) return "";
    const start = this.#at;
    if (length > this.#end - start) throw new CompressionError("a string is cut short");
    this.#at += length;
    return isHuffman ? decodeHuffman(this.#bytes, start, this.#at) : this.#bytes.toString("latin1", start, this.#at);
  }
}
