/**
 * ZooKeeper's serialisation: big-endian integers, and texts and byte strings preceded by a length, where -1 means that
 * there is none.
 *
 * Source: zookeeper-jute/src/main/resources/zookeeper.jute in github.com/apache/zookeeper.
 */

/** Writes values one after the other. */
export class JuteWriter {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.#add(part);
  }

  long(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.#add(part);
  }

  boolean(value: boolean): this {
    return this.#add(Buffer.from([value ? 1 : 0]));
  }

  bytes(value: Buffer): this {
    return this.int(value.length).#add(value);
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value));
  }

  /** Everything written, as one frame: preceded by its length. */
  frame(): Buffer {
    const body = Buffer.concat(this.#parts);
    return Buffer.concat([new JuteWriter().int(body.length).#body(), body]);
  }

  #add(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }

  #body(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Reads values one after the other. Throws RangeError if there are not enough bytes left. */
export class JuteReader {
  readonly #buffer: Buffer;
  #place = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  int(): number {
    this.#place += 4;
    return this.#buffer.readInt32BE(this.#place - 4);
  }

  long(): bigint {
    this.#place += 8;
    return this.#buffer.readBigInt64BE(this.#place - 8);
  }

  bytes(): Buffer {
    const length = Math.max(this.int(), 0);
    if (this.#place + length > this.#buffer.length) throw new RangeError("a byte string is longer than its frame");
    this.#place += length;
    return this.#buffer.subarray(this.#place - length, this.#place);
  }

  text(): string {
    return this.bytes().toString();
  }

  texts(): string[] {
    return Array.from({ length: Math.max(this.int(), 0) }, () => this.text());
  }
}
