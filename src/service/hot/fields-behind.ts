import { fixed32Bytes, writeFixed32Field } from "./write-protobuf.ts";

/** The fields of an answer behind its numbers or runs. */
export interface FieldsBehind {
  /** The most bytes that they take. */
  readonly bytesMax: number;
  /** Writes them, and returns where they end. */
  write(bytes: Buffer, at: number): number;
}

export const nothingBehind: FieldsBehind = { bytesMax: 0, write: (_bytes, at) => at };

/** The number of the deployment, as a fixed32 with this tag. */
export function deploymentBehind(tag: number, deploymentNow: () => number): FieldsBehind {
  return { bytesMax: fixed32Bytes, write: (bytes, at) => writeFixed32Field(bytes, at, tag, deploymentNow()) };
}
