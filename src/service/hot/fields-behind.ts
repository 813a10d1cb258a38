import { fixed32Bytes, writeFixed32Field } from "./write-protobuf.ts";

/** The fields of an answer that follow its numbers or runs. */
export interface FieldsBehind {
  /** The most bytes that they take. */
  readonly bytesMax: number;
  /** Writes them, and returns where they end. */
  write(bytes: Buffer, at: number): number;
}

/** The number of the deployment, or of the database of sequences, as a fixed32 with this tag. */
export function numberBehind(tag: number, numberNow: () => number): FieldsBehind {
  return { bytesMax: fixed32Bytes, write: (bytes, at) => writeFixed32Field(bytes, at, tag, numberNow()) };
}
