import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { isLittleEndian } from "../../snowflake/id-words.ts";
import { writeRun } from "../../snowflake/run.ts";
import type { ReservedIds } from "../../worker/id-source.ts";
import { type CallContext, checkBatch, drawChunk, type AnswerOptions } from "./issue-ids.ts";
import { deploymentBehind, type FieldsBehind } from "./fields-behind.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { type PackedNumbers, PackedStream } from "./packed-stream.ts";
import { field2Varint, readVarints, uint32Max } from "./read-varints.ts";
import { field3Fixed32 } from "./write-protobuf.ts";

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
    return new PackedStream(request.count, chunkSize, new PackedIds(options, context));
  };
}

/** The IDs of one call: all of them rise, so each draw says what the ones before it allow. */
class PackedIds implements PackedNumbers<ReservedIds> {
  readonly bytesEach = 8;
  readonly behind: FieldsBehind;
  readonly #options: AnswerOptions;
  readonly #context: CallContext;
  #risingSpan: number | undefined;

  constructor(options: AnswerOptions, context: CallContext) {
    this.behind = deploymentBehind(field3Fixed32, options.deploymentNow);
    this.#options = options;
    this.#context = context;
  }

  draw(count: number): ReservedIds | Promise<ReservedIds> {
    return drawChunk(this.#options, { count, risingSpan: this.#risingSpan }, this.#context);
  }

  write(bytes: Buffer, start: number, { runs, count, risingSpan }: ReservedIds): number {
    this.#risingSpan = risingSpan;
    const ids = new Uint32Array(bytes.buffer, bytes.byteOffset + start, count * 2);
    let at = 0;
    for (const run of runs) at = writeRun(run, ids, at);
    return start + count * this.bytesEach;
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
