import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import type { IdRun } from "../../snowflake/run.ts";
import { checkReserveCount, drawReservation, type AnswerOptions } from "./issue-ids.ts";
import { type HotMethod, type HotOperation, prefixBytes } from "./hot-method.ts";
import { field1Varint, field2Varint, readVarints, uint32Max } from "./read-varints.ts";
import type { ReservedIds } from "../../worker/id-source.ts";
import {
  field1Bytes,
  field1Fixed64,
  field2Fixed32,
  field3Fixed64,
  fixed32Bytes,
  writeFixed32Field,
  writeFixed64,
  writePrefix,
  writeVarint,
} from "./write-protobuf.ts";

/** ReserveIds with nothing but a count. */
export function createReserveIds(options: AnswerOptions): HotMethod {
  return {
    descriptor: IdService.method.reserveIds,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readReserveIds(options, message),
  };
}

function readReserveIds(options: AnswerOptions, message: Buffer): HotOperation | undefined {
  const count = readReserveRequest(message);
  if (count === undefined) return undefined;
  return (context) => {
    checkReserveCount(options, count);
    const drawn = drawReservation(options, count, context);
    const encode = ({ runs }: ReservedIds): Uint8Array => encodeRuns(runs, options.deploymentNow());
    return drawn instanceof Promise ? drawn.then(encode) : encode(drawn);
  };
}

/** The most bytes that an IdRun takes with its tag and length: 2 + 9 + 6 + 9. */
const runBytesMax = 26;

function encodeRuns(runs: readonly IdRun[], deployment: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(prefixBytes + runs.length * runBytesMax + fixed32Bytes);
  let at = prefixBytes;
  for (const { firstId, count, stride } of runs) {
    const lengthAt = at + 1;
    bytes[at] = field1Bytes;
    at = lengthAt + 1;
    bytes[at] = field1Fixed64;
    at = writeFixed64(bytes, at + 1, firstId);
    bytes[at] = field2Varint;
    at = writeVarint(bytes, at + 1, count);
    bytes[at] = field3Fixed64;
    at = writeFixed64(bytes, at + 1, stride);
    bytes[lengthAt] = at - lengthAt - 1;
  }
  at = writeFixed32Field(bytes, at, field2Fixed32, deployment);
  writePrefix(bytes, 0, at - prefixBytes);
  return bytes.subarray(0, at);
}

/** The count of a ReserveIdsRequest; undefined if it has any other field, or numbers written in an odd way. */
export function readReserveRequest(message: Buffer): number | undefined {
  const fields = readVarints(message, field1Varint);
  return fields !== undefined && fields[0] <= uint32Max ? fields[0] : undefined;
}
