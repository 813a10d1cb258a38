import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const idBytes = 8;
/** IDs that are sorted in memory at once: 64 MiB. */
const chunkIdsDefault = 8_388_608;
/** Memory of the merge, for all chunks together. */
const mergeBytes = 67_108_864;

/** An ID that came more than once. */
export interface RepeatedId {
  readonly id: bigint;
  readonly count: number;
}

/** IDs on disk, sorted, from `first` on. */
interface Chunk {
  readonly first: number;
  readonly count: number;
}

/**
 * Finds the IDs that came more than once among as many as the disk holds: sorted chunks in a file, which are then
 * merged. Takes 8 bytes of disk for each ID, and 192 MiB of memory at most.
 *
 * The file has no name while it is used, so nothing is left of it however the process ends.
 */
export class IdSorter {
  readonly #file: number;
  readonly #chunk: BigUint64Array<ArrayBuffer>;
  readonly #chunks: Chunk[] = [];
  #count = 0;
  #written = 0;

  /** @param folder - Where the file is made. @throws The system's error. */
  constructor(folder: string, chunkIds = chunkIdsDefault) {
    const path = join(folder, `snowlane-audit-${process.pid}-${randomUUID()}`);
    this.#file = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    this.#chunk = new BigUint64Array(chunkIds);
  }

  /** @param id - 0 to 2^63 - 1. @throws The system's error, for example on a full disk. */
  add(id: bigint): void {
    this.#chunk[this.#count++] = id;
    if (this.#count === this.#chunk.length) this.#writeChunk();
  }

  /** Gives each repeated ID once, in rising order. Call it once, after the last {@link add}. */
  *repeated(): Generator<RepeatedId, void, undefined> {
    if (this.#chunks.length === 0) {
      const ids = this.#chunk.subarray(0, this.#count);
      ids.sort();
      yield* repeatedOf(new MemoryIds(ids));
      return;
    }
    if (this.#count > 0) this.#writeChunk();
    const bufferIds = Math.max(512, Math.min(65_536, Math.floor(mergeBytes / idBytes / this.#chunks.length)));
    yield* repeatedOf(new MergedIds(this.#chunks.map((chunk) => new ChunkReader(this.#file, chunk, bufferIds))));
  }

  close(): void {
    closeSync(this.#file);
  }

  #writeChunk(): void {
    const ids = this.#chunk.subarray(0, this.#count);
    ids.sort();
    const bytes = new Uint8Array(ids.buffer, 0, ids.byteLength);
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#written * idBytes + at);
    }
    this.#chunks.push({ first: this.#written, count: this.#count });
    this.#written += this.#count;
    this.#count = 0;
  }
}

/** Sorted IDs, one after the other, in halves of 32 bits: a bigint for each would take most of the time. */
interface SortedIds {
  readonly high: number;
  readonly low: number;
  /** @returns Whether there was one more. */
  next(): boolean;
}

function* repeatedOf(ids: SortedIds): Generator<RepeatedId, void, undefined> {
  let [high, low, count] = [-1, -1, 0];
  for (let isThere = ids.next(); isThere; isThere = ids.next()) {
    if (ids.high === high && ids.low === low) {
      count++;
      continue;
    }
    if (count > 1) yield { id: idOf(high, low), count };
    [high, low, count] = [ids.high, ids.low, 1];
  }
  if (count > 1) yield { id: idOf(high, low), count };
}

function idOf(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

class MemoryIds implements SortedIds {
  readonly #halves: Uint32Array;
  #at = -2;

  constructor(ids: BigUint64Array<ArrayBuffer>) {
    this.#halves = new Uint32Array(ids.buffer, 0, ids.length * 2);
  }

  get high(): number {
    return this.#halves[this.#at + 1]!;
  }

  get low(): number {
    return this.#halves[this.#at]!;
  }

  next(): boolean {
    this.#at += 2;
    return this.#at < this.#halves.length;
  }
}

/** One chunk of the file, read a piece at a time. */
class ChunkReader implements SortedIds {
  high = 0;
  low = 0;
  readonly #file: number;
  readonly #halves: Uint32Array<ArrayBuffer>;
  #nextByte: number;
  #left: number;
  #at = 0;
  #end = 0;

  constructor(file: number, { first, count }: Chunk, bufferIds: number) {
    this.#file = file;
    this.#nextByte = first * idBytes;
    this.#left = count;
    this.#halves = new Uint32Array(bufferIds * 2);
  }

  next(): boolean {
    if (this.#at === this.#end && !this.#fill()) return false;
    this.low = this.#halves[this.#at++]!;
    this.high = this.#halves[this.#at++]!;
    return true;
  }

  #fill(): boolean {
    const count = Math.min(this.#left, this.#halves.length / 2);
    const bytes = new Uint8Array(this.#halves.buffer, 0, count * idBytes);
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(this.#file, bytes, at, bytes.length - at, this.#nextByte + at);
      if (read === 0) throw new Error("The file of sorted IDs ends too early.");
      at += read;
    }
    this.#nextByte += bytes.length;
    this.#left -= count;
    [this.#at, this.#end] = [0, count * 2];
    return count > 0;
  }
}

/** Several sorted lists as one, by a binary heap whose root is the list with the lowest ID. */
class MergedIds implements SortedIds {
  high = 0;
  low = 0;
  readonly #heap: ChunkReader[];

  constructor(lists: readonly ChunkReader[]) {
    this.#heap = lists.filter((list) => list.next());
    for (let at = Math.floor(this.#heap.length / 2); at >= 0; at--) this.#sink(at);
  }

  next(): boolean {
    const [root] = this.#heap;
    if (root === undefined) return false;
    [this.high, this.low] = [root.high, root.low];
    if (!root.next()) {
      const last = this.#heap.pop()!;
      if (this.#heap.length > 0) this.#heap[0] = last;
    }
    this.#sink(0);
    return true;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let at = from; ; ) {
      let lowest = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBelow(heap[child]!, heap[lowest]!)) lowest = child;
      }
      if (lowest === at) return;
      [heap[at], heap[lowest]] = [heap[lowest]!, heap[at]!];
      at = lowest;
    }
  }
}

function isBelow(one: SortedIds, other: SortedIds): boolean {
  return one.high < other.high || (one.high === other.high && one.low < other.low);
}
