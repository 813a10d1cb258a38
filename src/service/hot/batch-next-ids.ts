import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import type { ReservedIds } from "../../worker/id-source.ts";
import { type CallContext, checkBatch, drawChunk, type AnswerOptions } from "./issue-ids.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { canPackIds, PackedIds } from "./packed-ids.ts";
import { PackedStream } from "./packed-stream.ts";
import { field2Varint, readVarints, uint32Max } from "./read-varints.ts";

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
  const request = canPackIds ? readBatchRequest(message) : undefined;
  if (request === undefined) return undefined;
  return (context) => {
    const chunkSize = checkBatch(options, BigInt(request.count), request.chunkSize);
    return new PackedStream(request.count, chunkSize, new RisingIds(options, context));
  };
}

/** The IDs of one call: all of them rise, so each draw names the span of the earlier ones. */
class RisingIds extends PackedIds<ReservedIds> {
  readonly #options: AnswerOptions;
  readonly #context: CallContext;
  #risingSpan: number | undefined;

  constructor(options: AnswerOptions, context: CallContext) {
    super(options);
    this.#options = options;
    this.#context = context;
  }

  draw(count: number): ReservedIds | Promise<ReservedIds> {
    return drawChunk(this.#options, { count, risingSpan: this.#risingSpan }, this.#context);
  }

  override write(bytes: Buffer, start: number, drawn: ReservedIds): number {
    this.#risingSpan = drawn.risingSpan;
    return super.write(bytes, start, drawn);
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
