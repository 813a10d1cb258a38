import { assert } from "../../assert.ts";
import type { FieldsBehind } from "./fields-behind.ts";
import { type HotStream, prefixBytes } from "./hot-method.ts";
import { field1Bytes, varintBytes, writePrefix, writeVarint } from "./write-protobuf.ts";

/** Room for prefix, tag and length before the numbers, so that IDs are aligned for a Uint32Array. */
const headBytes = 12;

/** The numbers of a {@link PackedStream}: where they come from, and how they are written. */
export interface PackedNumbers<D extends { readonly count: number }> {
  /** Draws 1 to `count` numbers. @throws The errors of the service, also as rejection. */
  draw(count: number): D | Promise<D>;
  /** The most bytes that one number takes. */
  readonly bytesEach: number;
  /** Writes the numbers, and returns where they end. */
  write(bytes: Buffer, at: number, drawn: D): number;
  readonly behind: FieldsBehind;
}

/**
 * The answers of BatchNextIds and BatchNextValues: messages whose field 1 holds packed numbers. They are drawn when the
 * reader pulls them, so the reader sets the pace.
 */
export class PackedStream<D extends { readonly count: number }> implements HotStream {
  readonly #numbers: PackedNumbers<D>;
  readonly #chunkSize: number;
  #left: number;
  #bytes: Buffer | undefined;

  /** @param count - The numbers of all messages. */
  constructor(count: number, chunkSize: number, numbers: PackedNumbers<D>) {
    this.#left = count;
    this.#chunkSize = chunkSize;
    this.#numbers = numbers;
  }

  next(): Uint8Array | Promise<Uint8Array> | undefined {
    if (this.#left === 0) return undefined;
    const drawn = this.#numbers.draw(Math.min(this.#left, this.#chunkSize));
    return drawn instanceof Promise ? drawn.then((numbers) => this.#encode(numbers)) : this.#encode(drawn);
  }

  #encode(drawn: D): Uint8Array {
    assert(drawn.count <= this.#left, "I3: a stream was given more numbers than it asked for");
    this.#left -= drawn.count;
    const bytes = this.#room(drawn.count);
    const numbersEnd = this.#numbers.write(bytes, headBytes, drawn);
    const end = this.#numbers.behind.write(bytes, numbersEnd);
    const numberBytes = numbersEnd - headBytes;
    const start = headBytes - prefixBytes - 1 - varintBytes(numberBytes);
    writePrefix(bytes, start, end - start - prefixBytes);
    bytes[start + prefixBytes] = field1Bytes;
    writeVarint(bytes, start + prefixBytes + 1, numberBytes);
    return bytes.subarray(start, end);
  }

  #room(count: number): Buffer {
    const { bytesEach, behind } = this.#numbers;
    const size = headBytes + count * bytesEach + behind.bytesMax;
    if (this.#bytes === undefined || this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size);
    return this.#bytes;
  }
}
