import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueRun } from "../../sequence/segment-buffer.ts";
import { checkReserveValues, drawValueReservation, type ValueOptions } from "./issue-values.ts";
import { type HotMethod, type HotOperation, prefixBytes } from "./hot-method.ts";
import { field3Varint, readNamed } from "./read-named.ts";
import { field1Varint, field2Varint, uint32Max } from "./read-varints.ts";
import { field1Bytes, writeInt64, writePrefix, writeVarint } from "./write-protobuf.ts";

/** ReserveValues of a sequence that is in memory, and whose values have neither text nor period. */
export function createReserveValues(options: ValueOptions): HotMethod {
  return {
    descriptor: SequenceService.method.reserveValues,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readReserveValues(options, message),
  };
}

function readReserveValues(options: ValueOptions, message: Buffer): HotOperation | undefined {
  const request = readNamed(options, message, field2Varint);
  if (request === undefined || request.count > uint32Max) return undefined;
  const { source, count } = request;
  return (context) => {
    checkReserveValues(count);
    const drawn = drawValueReservation(options, source, count, context);
    return drawn instanceof Promise ? drawn.then(({ runs }) => encodeRuns(runs)) : encodeRuns(drawn.runs);
  };
}

/** The most bytes that a ValueRun takes with its tag and length: 2 + 10 + 6 + 10. */
const runBytesMax = 28;

function encodeRuns(runs: readonly ValueRun[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(prefixBytes + runs.length * runBytesMax);
  let at = prefixBytes;
  for (const { firstValue, count, increment } of runs) {
    const lengthAt = at + 1;
    bytes[at] = field1Bytes;
    at = lengthAt + 1;
    bytes[at] = field1Varint;
    at = writeInt64(bytes, at + 1, firstValue);
    bytes[at] = field2Varint;
    at = writeVarint(bytes, at + 1, count);
    bytes[at] = field3Varint;
    at = writeInt64(bytes, at + 1, increment);
    bytes[lengthAt] = at - lengthAt - 1;
  }
  writePrefix(bytes, 0, at - prefixBytes);
  return bytes.subarray(0, at);
}
