import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import type { IdRun } from "../../snowflake/run.ts";
import { checkReserveCount, drawReservation, type AnswerOptions } from "./issue-ids.ts";
import { numberBehind } from "./fields-behind.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { field1Varint, field2Varint, readVarints, uint32Max } from "./read-varints.ts";
import { field1Fixed64, field2Fixed32, field3Fixed64, writeFixed64, writeVarint } from "./write-protobuf.ts";
import { encodeRuns, type RunWriter } from "./write-runs.ts";

/** 2 for its tag and length, 9 + 6 + 9 for its fields. */
const runBytesMax = 26;

function writeIdRun(bytes: Buffer, start: number, { firstId, count, stride }: IdRun): number {
  bytes[start] = field1Fixed64;
  let at = writeFixed64(bytes, start + 1, firstId);
  bytes[at] = field2Varint;
  at = writeVarint(bytes, at + 1, count);
  bytes[at] = field3Fixed64;
  return writeFixed64(bytes, at + 1, stride);
}

/** ReserveIds with nothing but a count. */
export function createReserveIds(options: AnswerOptions): HotMethod {
  const writer: RunWriter<IdRun> = {
    bytesEach: runBytesMax,
    write: writeIdRun,
    behind: numberBehind(field2Fixed32, options.deploymentNow),
  };
  return {
    descriptor: IdService.method.reserveIds,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readReserveIds(options, writer, message),
  };
}

function readReserveIds(options: AnswerOptions, writer: RunWriter<IdRun>, message: Buffer): HotOperation | undefined {
  const count = readReserveRequest(message);
  if (count === undefined) return undefined;
  return (context) => {
    checkReserveCount(options, count);
    const drawn = drawReservation(options, count, context);
    return drawn instanceof Promise
      ? drawn.then(({ runs }) => encodeRuns(runs, writer))
      : encodeRuns(drawn.runs, writer);
  };
}

/** The count of a ReserveIdsRequest; undefined if it has any other field, or numbers written in an odd way. */
export function readReserveRequest(message: Buffer): number | undefined {
  const fields = readVarints(message, field1Varint);
  return fields !== undefined && fields[0] <= uint32Max ? fields[0] : undefined;
}
