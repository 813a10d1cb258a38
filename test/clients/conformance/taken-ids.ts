import { readFileSync } from "node:fs";

/** An ID that a program took, and when. */
export interface TakenId {
  readonly id: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Reads what the command `take` wrote: 16 bytes an ID, big-endian. */
export function readTakenIds(path: string): readonly TakenId[] {
  const data = readFileSync(path);
  const taken: TakenId[] = [];
  for (let at = 0; at < data.length; at += 16)
    taken.push({ id: data.readBigUInt64BE(at), atMs: Number(data.readBigUInt64BE(at + 8)) });
  return taken;
}
