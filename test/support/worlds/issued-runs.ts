import { closeSync, openSync, readSync } from "node:fs";
import { issueRecordBytes } from "../../../src/server/issue-log.ts";
import type { IdRun } from "../../../src/snowflake/run.ts";

/** Records that are read from a file at once. */
const chunkRecords = 65_536;
const chunkBytes = chunkRecords * issueRecordBytes;

/** IDs from `first` to `last`, inclusive, both rotated as {@link IssuedRuns} says. */
interface Segment {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * IDs that were issued, as runs: of an issue log, or of what clients were given. Tells whether any ID is there twice,
 * and whether all are in another set. Holds 16 bytes a run, so 10^8 runs fit.
 *
 * Runs may have a stride (the sequence is not an ID's lowest field). Rotating an ID right by the stride's bits makes
 * neighbours of such a run neighbours in number; all runs of one deployment have one stride.
 *
 * Looking for repeats needs no pairs of first and last: with all firsts sorted, and all lasts sorted by themselves, the
 * runs are disjoint exactly if each last is below the next first. For, if x lies in `c` runs, then c is the number of
 * firsts up to x less the number of lasts below x.
 */
export class IssuedRuns {
  /** IDs in all runs, repeats counted. */
  idCount = 0;
  #firsts = new BigUint64Array(1_024);
  #lasts = new BigUint64Array(1_024);
  #count = 0;
  #strideBits: number | undefined;
  #isSorted = true;

  /** @throws Error if runs with another stride are there. */
  add({ firstId, count, stride }: IdRun): void {
    this.#addRun(firstId, count, stride.toString(2).length - 1);
  }

  /** Adds IDs that belong together, as a message brings them: rising neighbours become one run. */
  addIds(ids: readonly bigint[], strideBits: number): void {
    const stride = 1n << BigInt(strideBits);
    for (let at = 0; at < ids.length; ) {
      const firstId = ids[at]!;
      let count = 1;
      while (ids[at + count] === firstId + BigInt(count) * stride) count += 1;
      this.#addRun(firstId, count, strideBits);
      at += count;
    }
  }

  /** Adds all records of an issue log; their layout is in src/server/issue-log.ts. */
  addLog(path: string): void {
    const file = openSync(path, "r");
    try {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      for (let length = readWhole(file, chunk); length > 0; length = readWhole(file, chunk)) {
        if (length % issueRecordBytes !== 0) throw new Error(`${path} ends within a record.`);
        for (let at = 0; at < length; at += issueRecordBytes) {
          this.#addRun(chunk.readBigUInt64BE(at), chunk.readUInt32BE(at + 8), chunk.readUInt32BE(at + 12));
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** How many IDs are there again: 0, or what `idCount` is above the number of different IDs. */
  countRepeated(): number {
    let different = 0;
    for (const { first, last } of this.#segments()) different += Number(last - first + 1n);
    return this.idCount - different;
  }

  /** The lowest ID that is there more than once. */
  findRepeated(): bigint | undefined {
    this.#sort();
    for (let index = 1; index < this.#count; index += 1) {
      if (this.#lasts[index - 1]! >= this.#firsts[index]!) return this.#rotateBack(this.#firsts[index]!);
    }
    return undefined;
  }

  /** An ID that is here and not in `other`. */
  findMissingFrom(other: IssuedRuns): bigint | undefined {
    const known = other.#segments();
    let around = known.next();
    for (const { first, last } of this.#segments()) {
      while (!around.done && around.value.last < first) around = known.next();
      if (around.done || around.value.first > first) return this.#rotateBack(first);
      if (around.value.last < last) return this.#rotateBack(around.value.last + 1n);
    }
    return undefined;
  }

  #addRun(firstId: bigint, count: number, strideBits: number): void {
    this.#strideBits ??= strideBits;
    if (this.#strideBits !== strideBits) throw new Error(`Runs with strides 2^${this.#strideBits} and 2^${strideBits}`);
    if (this.#count === this.#firsts.length) {
      this.#firsts = doubled(this.#firsts);
      this.#lasts = doubled(this.#lasts);
    }
    const first = this.#rotate(firstId);
    this.#firsts[this.#count] = first;
    this.#lasts[this.#count] = first + BigInt(count - 1);
    this.#count += 1;
    this.idCount += count;
    this.#isSorted = false;
  }

  /** The covered segments, in order, without overlaps; neighbours are joined. */
  *#segments(): Generator<Segment, undefined, undefined> {
    this.#sort();
    for (let start = 0, index = 0; index < this.#count; index += 1) {
      if (index + 1 < this.#count && this.#lasts[index]! + 1n >= this.#firsts[index + 1]!) continue;
      yield { first: this.#firsts[start]!, last: this.#lasts[index]! };
      start = index + 1;
    }
    return undefined;
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#firsts.subarray(0, this.#count).sort();
    this.#lasts.subarray(0, this.#count).sort();
    this.#isSorted = true;
  }

  #rotate(id: bigint): bigint {
    return rotateRight(id, this.#strideBits ?? 0);
  }

  #rotateBack(id: bigint): bigint {
    return rotateRight(id, 64 - (this.#strideBits ?? 0));
  }
}

function rotateRight(id: bigint, bits: number): bigint {
  if (bits === 0 || bits === 64) return id;
  return (id >> BigInt(bits)) | BigInt.asUintN(64, id << BigInt(64 - bits));
}

function doubled(array: BigUint64Array): BigUint64Array<ArrayBuffer> {
  const larger = new BigUint64Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Fills the buffer unless the file ends before; the bytes read. */
function readWhole(file: number, into: Buffer): number {
  let length = 0;
  while (length < into.length) {
    const read = readSync(file, into, length, into.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return length;
}
