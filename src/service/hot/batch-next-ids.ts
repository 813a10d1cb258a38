import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { assert } from "../../assert.ts";
import { isLittleEndian } from "../../snowflake/id-words.ts";
import { type IdRun, writeRun } from "../../snowflake/run.ts";
import { type CallContext, checkBatch, drawChunk, type AnswerOptions } from "./issue-ids.ts";
import { type HotMethod, type HotOperation, type HotStream, prefixBytes } from "./hot-method.ts";
import { field2Varint, readVarints, uint32Max } from "./read-varints.ts";
import {
  field1Bytes,
  field3Fixed32,
  fixed32Bytes,
  varintBytes,
  writeFixed32Field,
  writePrefix,
  writeVarint,
} from "./write-protobuf.ts";

/** BatchNextIds without texts. */
export function createBatchNextIds(options: AnswerOptions): HotMethod {
  return {
    descriptor: IdService.method.batchNextIds,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readBatchNextIds(options, message),
  };
}

function readBatchNextIds(options: AnswerOptions, message: Buffer): HotOperation | undefined {
  // On any other machine a Uint32Array does not have the order of bytes that protobuf needs.
  const request = isLittleEndian ? readBatchRequest(message) : undefined;
  if (request === undefined) return undefined;
  return (context) => {
    const chunkSize = checkBatch(options, BigInt(request.count), request.chunkSize);
    return new Batch(options, request.count, chunkSize, context);
  };
}

/** Room for prefix, tag and length before the IDs, so that the IDs are aligned for a Uint32Array. */
const chunkHeadBytes = 12;

/** A BatchNextIds call. IDs are drawn when the reader pulls them, so the reader sets the pace. */
class Batch implements HotStream {
  readonly #options: AnswerOptions;
  readonly #chunkSize: number;
  readonly #context: CallContext;
  #left: number;
  #risingSpan: number | undefined;
  #bytes: Buffer | undefined;

  constructor(options: AnswerOptions, count: number, chunkSize: number, context: CallContext) {
    this.#options = options;
    this.#left = count;
    this.#chunkSize = chunkSize;
    this.#context = context;
  }

  next(): Uint8Array | Promise<Uint8Array> | undefined {
    if (this.#left === 0) return undefined;
    const count = Math.min(this.#left, this.#chunkSize);
    const drawn = drawChunk(this.#options, { count, risingSpan: this.#risingSpan }, this.#context);
    if (drawn instanceof Promise)
      return drawn.then(({ runs, count, risingSpan }) => this.#encode(runs, count, risingSpan));
    return this.#encode(drawn.runs, drawn.count, drawn.risingSpan);
  }

  #encode(runs: readonly IdRun[], count: number, risingSpan: number): Uint8Array {
    assert(count <= this.#left, "I3: a stream was given more IDs than it asked for");
    this.#risingSpan = risingSpan;
    this.#left -= count;
    const bytes = this.#room(count);
    const ids = new Uint32Array(bytes.buffer, bytes.byteOffset + chunkHeadBytes, count * 2);
    let at = 0;
    for (const run of runs) at = writeRun(run, ids, at);
    const idBytes = count * 8;
    const start = chunkHeadBytes - prefixBytes - 1 - varintBytes(idBytes);
    const { deploymentNow } = this.#options;
    const end = writeFixed32Field(bytes, chunkHeadBytes + idBytes, field3Fixed32, deploymentNow());
    writePrefix(bytes, start, end - start - prefixBytes);
    bytes[start + prefixBytes] = field1Bytes;
    writeVarint(bytes, start + prefixBytes + 1, idBytes);
    return bytes.subarray(start, end);
  }

  #room(count: number): Buffer {
    const bytes = chunkHeadBytes + count * 8 + fixed32Bytes;
    if (this.#bytes === undefined || this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafeSlow(bytes);
    return this.#bytes;
  }
}

/** A BatchNextIdsRequest without texts. */
export interface PlainBatchRequest {
  /** 0 to 2^53 - 1. */
  readonly count: number;
  /** 0 to 2^32 - 1. */
  readonly chunkSize: number;
}

/** A BatchNextIdsRequest; undefined if it has any other field, or numbers written in an odd way. */
export function readBatchRequest(message: Buffer): PlainBatchRequest | undefined {
  const fields = readVarints(message, field2Varint);
  if (fields === undefined || fields[1] > uint32Max) return undefined;
  return { count: fields[0], chunkSize: fields[1] };
}
