const nothing: Buffer = Buffer.alloc(0);

/** Bytes that come in pieces, kept in one buffer: a piece of one byte takes one byte, not a buffer of its own. */
export class GatheredBytes {
  #buffer: Buffer = nothing;
  #length = 0;

  /** All that came since the last {@link GatheredBytes.take}. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Keeps a piece that no other code changes; the first one is not copied. */
  keep(bytes: Buffer): void {
    if (this.#length > 0) {
      this.append(bytes, 0, bytes.length);
      return;
    }
    this.#buffer = bytes;
    this.#length = bytes.length;
  }

  /** Copies a piece: the bytes from `start` to `end`, exclusive. */
  append(bytes: Buffer, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, length));
      this.bytes.copy(grown);
      this.#buffer = grown;
    }
    bytes.copy(this.#buffer, this.#length, start, end);
    this.#length = length;
  }

  /** Gives the bytes away. */
  take(): Buffer {
    const { bytes } = this;
    this.#buffer = nothing;
    this.#length = 0;
    return bytes;
  }
}
