import { assert } from "../../assert.ts";
import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueRun } from "../../sequence/segment-buffer.ts";
import type { ReservedValues, ValueSource } from "../../sequence/value-source.ts";
import { IdWords } from "../../snowflake/id-words.ts";
import { type CallContext, checkBatch } from "./issue-ids.ts";
import { drawValueChunk, type ValueOptions } from "./issue-values.ts";
import { type HotMethod, type HotOperation, type HotStream, prefixBytes } from "./hot-method.ts";
import { field3Varint, readNamed } from "./read-named.ts";
import { uint32Max } from "./read-varints.ts";
import { field1Bytes, int64BytesMax, varintBytes, writePrefix, writeVarint, writeWords } from "./write-protobuf.ts";

/** BatchNextValues of a sequence that is in memory, and whose values have neither text nor period. */
export function createBatchNextValues(options: ValueOptions): HotMethod {
  return {
    descriptor: SequenceService.method.batchNextValues,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readBatchNextValues(options, message),
  };
}

function readBatchNextValues(options: ValueOptions, message: Buffer): HotOperation | undefined {
  const request = readNamed(options, message, field3Varint);
  if (request === undefined || request.size > uint32Max) return undefined;
  const { source, count, size } = request;
  return (context) => {
    const chunkSize = checkBatch(options, BigInt(count), size);
    return new ValueBatch(options, source, { count, chunkSize }, context);
  };
}

/** Room for prefix, tag and length before the values. */
const chunkHeadBytes = 12;
const words = new IdWords();

/** A BatchNextValues call. Values are drawn when the reader pulls them, so the reader sets the pace. */
class ValueBatch implements HotStream {
  readonly #options: ValueOptions;
  readonly #source: ValueSource;
  readonly #chunkSize: number;
  readonly #context: CallContext;
  #left: number;
  #bytes: Buffer | undefined;

  constructor(
    options: ValueOptions,
    source: ValueSource,
    { count, chunkSize }: { readonly count: number; readonly chunkSize: number },
    context: CallContext,
  ) {
    this.#options = options;
    this.#source = source;
    this.#left = count;
    this.#chunkSize = chunkSize;
    this.#context = context;
  }

  next(): Uint8Array | Promise<Uint8Array> | undefined {
    if (this.#left === 0) return undefined;
    const count = Math.min(this.#left, this.#chunkSize);
    const drawn = drawValueChunk(this.#options, this.#source, count, this.#context);
    return drawn instanceof Promise ? drawn.then((values) => this.#encode(values)) : this.#encode(drawn);
  }

  #encode({ runs, count }: ReservedValues): Uint8Array {
    assert(count <= this.#left, "a stream was given more values than it asked for");
    this.#left -= count;
    const bytes = this.#room(count);
    let at = chunkHeadBytes;
    for (const run of runs) at = writeValues(bytes, at, run);
    const valueBytes = at - chunkHeadBytes;
    const start = chunkHeadBytes - prefixBytes - 1 - varintBytes(valueBytes);
    writePrefix(bytes, start, at - start - prefixBytes);
    bytes[start + prefixBytes] = field1Bytes;
    writeVarint(bytes, start + prefixBytes + 1, valueBytes);
    return bytes.subarray(start, at);
  }

  #room(count: number): Buffer {
    const bytes = chunkHeadBytes + count * int64BytesMax;
    if (this.#bytes === undefined || this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes;
  }
}

/** Writes the values of a run as varints, without a bigint for each, and returns where they end. */
function writeValues(bytes: Buffer, start: number, { firstValue, count, increment }: ValueRun): number {
  words.id = increment;
  const { low: stepLow, high: stepHigh } = words;
  words.id = firstValue;
  let { low, high } = words;
  let at = start;
  for (let index = 0; index < count; index++) {
    at = writeWords(bytes, at, low, high);
    low += stepLow;
    high += stepHigh;
    if (low >= 2 ** 32) {
      low -= 2 ** 32;
      high++;
    }
  }
  return at;
}
