import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueRun } from "../../sequence/segment-buffer.ts";
import { checkReserveValues, drawValueReservation, type ValueOptions } from "./issue-values.ts";
import { numberBehind } from "./fields-behind.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { field3Varint, readNamed } from "./read-named.ts";
import { field1Varint, field2Varint, uint32Max } from "./read-varints.ts";
import { field3Fixed32, writeInt64, writeVarint } from "./write-protobuf.ts";
import { encodeRuns, type RunWriter } from "./write-runs.ts";

/** 2 for its tag and length, 10 + 6 + 10 for its fields. */
const bytesEach = 28;

function writeValueRun(bytes: Buffer, start: number, { firstValue, count, increment }: ValueRun): number {
  bytes[start] = field1Varint;
  let at = writeInt64(bytes, start + 1, firstValue);
  bytes[at] = field2Varint;
  at = writeVarint(bytes, at + 1, count);
  bytes[at] = field3Varint;
  return writeInt64(bytes, at + 1, increment);
}

/** ReserveValues of a sequence that is in memory, and whose values have neither text nor period. */
export function createReserveValues(options: ValueOptions): HotMethod {
  const behind = numberBehind(field3Fixed32, options.databaseNow);
  const writer: RunWriter<ValueRun> = { bytesEach, write: writeValueRun, behind };
  return {
    descriptor: SequenceService.method.reserveValues,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readReserveValues(options, writer, message),
  };
}

function readReserveValues(
  options: ValueOptions,
  writer: RunWriter<ValueRun>,
  message: Buffer,
): HotOperation | undefined {
  const request = readNamed(options, message, field2Varint);
  if (request === undefined || request.count > uint32Max) return undefined;
  const { source, count } = request;
  return (context) => {
    checkReserveValues(count);
    const drawn = drawValueReservation(options, source, count, context);
    return drawn instanceof Promise
      ? drawn.then(({ runs }) => encodeRuns(runs, writer))
      : encodeRuns(drawn.runs, writer);
  };
}
