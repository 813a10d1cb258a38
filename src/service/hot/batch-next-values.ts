import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueRun } from "../../sequence/segment-buffer.ts";
import type { ReservedValues } from "../../sequence/value-source.ts";
import { IdWords } from "../../snowflake/id-words.ts";
import { checkBatch } from "./issue-ids.ts";
import { drawValueChunk, type ValueOptions } from "./issue-values.ts";
import { type FieldsBehind, numberBehind } from "./fields-behind.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { PackedStream } from "./packed-stream.ts";
import { field3Varint, readNamed } from "./read-named.ts";
import { uint32Max } from "./read-varints.ts";
import { field4Fixed32, int64BytesMax, writeWords } from "./write-protobuf.ts";

/** BatchNextValues of a sequence that is in memory, and whose values have neither text nor period. */
export function createBatchNextValues(options: ValueOptions): HotMethod {
  const behind = numberBehind(field4Fixed32, options.databaseNow);
  return {
    descriptor: SequenceService.method.batchNextValues,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readBatchNextValues(options, behind, message),
  };
}

function readBatchNextValues(options: ValueOptions, behind: FieldsBehind, message: Buffer): HotOperation | undefined {
  const request = readNamed(options, message, field3Varint);
  if (request === undefined || request.size > uint32Max) return undefined;
  const { source, count, size } = request;
  return (context) => {
    const chunkSize = checkBatch(options, BigInt(count), size);
    return new PackedStream<ReservedValues>(count, chunkSize, {
      draw: (wanted) => drawValueChunk(options, source, wanted, context),
      bytesEach: int64BytesMax,
      write: writeRuns,
      behind,
    });
  };
}

const words = new IdWords();

function writeRuns(bytes: Buffer, start: number, { runs }: ReservedValues): number {
  let at = start;
  for (const run of runs) at = writeValues(bytes, at, run);
  return at;
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
