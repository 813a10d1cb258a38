/** The two tables that an index in a header block points into: RFC 7541 sections 2.3 and 4, appendix A. */
import { CompressionError } from "./compression-error.ts";
import { Field } from "./field.ts";

// biome-ignore format: one row for each kind of entry
const staticEntries: readonly (readonly [name: string, value: string])[] = [
  [":authority", ""], [":method", "GET"], [":method", "POST"], [":path", "/"], [":path", "/index.html"], [":scheme", "http"],
  [":scheme", "https"], [":status", "200"], [":status", "204"], [":status", "206"], [":status", "304"], [":status", "400"],
  [":status", "404"], [":status", "500"], ["accept-charset", ""], ["accept-encoding", "gzip, deflate"], ["accept-language", ""],
  ["accept-ranges", ""], ["accept", ""], ["access-control-allow-origin", ""], ["age", ""], ["allow", ""], ["authorization", ""],
  ["cache-control", ""], ["content-disposition", ""], ["content-encoding", ""], ["content-language", ""], ["content-length", ""],
  ["content-location", ""], ["content-range", ""], ["content-type", ""], ["cookie", ""], ["date", ""], ["etag", ""], ["expect", ""],
  ["expires", ""], ["from", ""], ["host", ""], ["if-match", ""], ["if-modified-since", ""], ["if-none-match", ""], ["if-range", ""],
  ["if-unmodified-since", ""], ["last-modified", ""], ["link", ""], ["location", ""], ["max-forwards", ""],
  ["proxy-authenticate", ""], ["proxy-authorization", ""], ["range", ""], ["referer", ""], ["refresh", ""], ["retry-after", ""],
  ["server", ""], ["set-cookie", ""], ["strict-transport-security", ""], ["transfer-encoding", ""], ["user-agent", ""], ["vary", ""],
  ["via", ""], ["www-authenticate", ""],
];

/** Appendix A: `staticTable[index]` for index 1 to 61. Index 0 means none. */
export const staticTable: readonly (Field | undefined)[] = [
  undefined,
  ...staticEntries.map(([name, value]) => new Field(name, value)),
];

/** The default of SETTINGS_HEADER_TABLE_SIZE, which this server does not change: RFC 9113 section 6.5.2. */
export const tableBytesMax = 4096;

/** The fields that one direction of a connection remembers, newest first: sections 2.3.2, 4.3 and 4.4. */
export class DynamicTable {
  /**
   * Grows with every change: a block that was decoded under an equal count still means the same fields. It stays exact
   * up to 2^53.
   */
  changeCount = 0;
  #limitBytes = tableBytesMax;
  #sizeBytes = 0;
  /** A ring; its length is a power of two. Entry number n, from 0, is at n modulo the length. */
  #ring: (Field | undefined)[] = Array.from({ length: 8 });
  #insertedCount = 0;
  #count = 0;

  /** The entry that was inserted `age` insertions ago, from 0; undefined if there is none. */
  at(age: number): Field | undefined {
    return age < this.#count ? this.#ring[(this.#insertedCount - 1 - age) & (this.#ring.length - 1)] : undefined;
  }

  /**
   * Adds a field and evicts the oldest as needed. A field that is too large leaves the table empty, which is not an
   * error: section 4.4.
   */
  insert(field: Field): void {
    this.changeCount++;
    this.#evictTo(this.#limitBytes - field.sizeBytes);
    if (field.sizeBytes > this.#limitBytes) return;
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[this.#insertedCount & (this.#ring.length - 1)] = field;
    this.#insertedCount++;
    this.#count++;
    this.#sizeBytes += field.sizeBytes;
  }

  /** @throws CompressionError above {@link tableBytesMax}: section 6.3. */
  resize(limitBytes: number): void {
    if (limitBytes > tableBytesMax) {
      throw new CompressionError("a table size update exceeds the limit");
    }
    this.changeCount++;
    this.#limitBytes = limitBytes;
    this.#evictTo(limitBytes);
  }

  #evictTo(roomBytes: number): void {
    while (this.#count > 0 && this.#sizeBytes > roomBytes) {
      const place = (this.#insertedCount - this.#count) & (this.#ring.length - 1);
      this.#sizeBytes -= this.#ring[place]!.sizeBytes;
      this.#ring[place] = undefined;
      this.#count--;
    }
  }

  #grow(): void {
    const entries = Array.from({ length: this.#count }, (_, age) => this.at(this.#count - 1 - age));
    this.#ring = [...entries, ...Array.from<undefined>({ length: this.#count })];
    this.#insertedCount = this.#count;
  }
}
