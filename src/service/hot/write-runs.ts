import type { FieldsBehind } from "./fields-behind.ts";
import { prefixBytes } from "./hot-method.ts";
import { field1Bytes, writePrefix } from "./write-protobuf.ts";

/** How a run is written, and the fields that follow all runs. */
export interface RunWriter<R> {
  /** The most bytes that one run takes with its tag and length; at most 129. */
  readonly bytesEach: number;
  /** Writes the fields of a run, and returns where they end. */
  write(bytes: Buffer, at: number, run: R): number;
  readonly behind: FieldsBehind;
}

/** Encodes the answer of ReserveIds or ReserveValues: a framed message whose field 1 holds runs. */
export function encodeRuns<R>(runs: readonly R[], writer: RunWriter<R>): Uint8Array {
  const bytes = Buffer.allocUnsafe(prefixBytes + runs.length * writer.bytesEach + writer.behind.bytesMax);
  let at = prefixBytes;
  for (const run of runs) {
    const start = at + 2;
    const end = writer.write(bytes, start, run);
    bytes[at] = field1Bytes;
    bytes[at + 1] = end - start;
    at = end;
  }
  at = writer.behind.write(bytes, at);
  writePrefix(bytes, 0, at - prefixBytes);
  return bytes.subarray(0, at);
}
