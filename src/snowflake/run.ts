import { IdWords } from "./id-words.ts";

/** IDs in arithmetic progression: `firstId + i * stride` for i from 0 to count - 1. */
export interface IdRun {
  readonly firstId: bigint;
  /** At least 1. */
  readonly count: number;
  /** At least 1n. */
  readonly stride: bigint;
}

/** Yields the IDs of runs one by one, in order. */
export function* idsOf(runs: Iterable<IdRun>): Generator<bigint, void, undefined> {
  for (const { firstId, count, stride } of runs) {
    for (let index = 0, id = firstId; index < count; index++, id += stride) yield id;
  }
}

const words = new IdWords();

/**
 * Writes the IDs of a run as pairs of unsigned 32-bit halves, lower half first, without a bigint for each.
 *
 * On a little-endian machine the memory of `target` is then the packed `fixed64` form of protobuf.
 *
 * @param start - Index of the first pair's lower half.
 * @returns The index after the last pair.
 */
export function writeRun({ firstId, count, stride }: IdRun, target: Uint32Array, start: number): number {
  words.id = stride;
  const { low: strideLow, high: strideHigh } = words;
  words.id = firstId;
  let { low, high } = words;
  let at = start;
  for (let index = 0; index < count; index++) {
    target[at++] = low;
    target[at++] = high;
    low += strideLow;
    high += strideHigh;
    if (low >= 2 ** 32) {
      low -= 2 ** 32;
      high++;
    }
  }
  return at;
}
