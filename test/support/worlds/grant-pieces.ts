import { closeSync, openSync, readSync } from "node:fs";
import { issueRecordBytes } from "../../../src/server/issue-log.ts";
import { decomposeId, type Layout, ticksToMsDown } from "../../../src/snowflake/layout.ts";

/**
 * A grant, as the log of its process tells of it, or a claim of the past, as its claimer does. Times are Unix
 * milliseconds by the clock of that process.
 */
export interface LoggedGrant {
  /** One life of one process, whose IDs are in one issue log; or one claim. */
  readonly owner: string;
  /** Counts the lives of all processes, in the order in which they began. */
  readonly life: number;
  /** The process over its lives. */
  readonly instance: string;
  /** `resumed`: an earlier life's grant goes on. `claimed`: of the past. */
  readonly how: "acquired" | "resumed" | "claimed";
  readonly workerId: number;
  readonly generation: number;
  readonly fromMs: number;
  /** The mark that the store had confirmed by then; renewals raise it, and are not logged. A claim ends there. */
  readonly untilMs: number;
  /** When the line was written. */
  readonly atMs: number;
}

/** A record that was seen in the store, at a moment when its holder was certain not to give it back. */
export interface SeenMark {
  readonly workerId: number;
  readonly markMs: number;
  /** Tells whether a grant is later than that moment. */
  readonly isBefore: (grant: LoggedGrant) => boolean;
}

/**
 * Holds the grants of a deployment to promise S3: the grants of one worker ID have pieces of time that do not overlap,
 * and each ID lies in a piece of the process that issued it. A piece begins where its grant begins, and ends where the
 * next grant of that worker ID begins; that of a claim ends with it.
 *
 * Two processes that use one worker ID at once rarely issue one ID twice, as IDs are sparse. Here they show with the
 * first ID of a wrong piece.
 */
export class GrantPieces {
  readonly #layout: Layout;
  readonly #grants = new Map<number, LoggedGrant[]>();
  readonly #seen: SeenMark[] = [];
  /** Lives and grants whose mark may have been lowered to what was used. */
  readonly #givenBack = new Set<LoggedGrant | string>();
  #isSorted = true;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Takes note of a grant. */
  granted(grant: LoggedGrant): void {
    const grants = this.#grants.get(grant.workerId) ?? [];
    grants.push(grant);
    this.#grants.set(grant.workerId, grants);
    this.#isSorted = false;
  }

  /** Takes note that a life gave its present grant of a worker ID back: the next one may begin below its mark. */
  released(owner: string, workerId: number): void {
    const grant = this.#grants.get(workerId)?.findLast((each) => each.owner === owner);
    if (grant !== undefined) this.#givenBack.add(grant);
  }

  /** Takes note that a life ended in order: it may have given back what it held. */
  stopped(owner: string): void {
    this.#givenBack.add(owner);
  }

  /** Takes note of a mark: whatever is granted afterwards begins at it, or above. */
  saw(mark: SeenMark): void {
    this.#seen.push(mark);
  }

  /** How often a worker ID went from one process to another that did not get it from its hands. */
  countTakeovers(): number {
    let count = 0;
    for (const [before, after] of this.#neighbours()) {
      if (before.how === "claimed" || after.how === "claimed") continue;
      if (before.instance !== after.instance && !this.#isGivenBack(before)) count += 1;
    }
    return count;
  }

  /** Says which grants began below an existing mark, in words. */
  findLowStarts(): readonly string[] {
    const found: string[] = [];
    for (const [before, after] of this.#neighbours()) {
      const isFurtherLife = after.how === "resumed" && after.generation === before.generation;
      if (after.fromMs >= before.untilMs || isFurtherLife || this.#isGivenBack(before)) continue;
      found.push(`${shown(after)} begins below the mark ${before.untilMs} of ${shown(before)}`);
    }
    for (const { workerId, markMs, isBefore } of this.#seen) {
      for (const grant of this.#of(workerId)) {
        // The mark is its own.
        if (!isBefore(grant) || grant.untilMs === markMs || grant.fromMs >= markMs) continue;
        found.push(`${shown(grant)} begins below the mark ${markMs} that stood in the store`);
      }
    }
    return found;
  }

  /** Of some IDs of one owner, the first that is not in a piece of that owner, in words. */
  findStray(owner: string, ids: Iterable<bigint>): string | undefined {
    for (const id of ids) {
      const { ticks, workerId } = decomposeId(this.#layout, id);
      const timeMs = ticksToMsDown(this.#layout, ticks);
      const piece = this.#pieceAt(workerId, timeMs);
      const isAfter = piece?.how === "claimed" && timeMs >= piece.untilMs;
      if (piece?.owner === owner && !isAfter) continue;
      const where =
        piece === undefined ? "before every grant" : `${isAfter ? "after" : "in"} the piece of ${shown(piece)}`;
      return `${owner} issued ${id}, worker ID ${workerId} at ${timeMs}, ${where}`;
    }
    return undefined;
  }

  #pieceAt(workerId: number, timeMs: number): LoggedGrant | undefined {
    const grants = this.#of(workerId);
    let [low, high] = [0, grants.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (grants[middle]!.fromMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return grants[low - 1];
  }

  *#neighbours(): Generator<readonly [LoggedGrant, LoggedGrant]> {
    for (const workerId of this.#grants.keys()) {
      const grants = this.#of(workerId);
      for (let index = 1; index < grants.length; index += 1) yield [grants[index - 1]!, grants[index]!];
    }
  }

  #of(workerId: number): readonly LoggedGrant[] {
    if (!this.#isSorted) {
      for (const grants of this.#grants.values()) {
        grants.sort((one, other) => one.fromMs - other.fromMs || one.generation - other.generation);
      }
      this.#isSorted = true;
    }
    return this.#grants.get(workerId) ?? [];
  }

  #isGivenBack(grant: LoggedGrant): boolean {
    return this.#givenBack.has(grant) || this.#givenBack.has(grant.owner);
  }
}

function shown({ owner, workerId, generation, fromMs }: LoggedGrant): string {
  return `${owner} (worker ID ${workerId}, generation ${generation}, from ${fromMs})`;
}

/** The first ID of each run in the issue log of one life. A run lies within one tick. */
export function* readFirstIds(path: string): Generator<bigint> {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(issueRecordBytes * 4_096);
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
      for (let at = 0; at + issueRecordBytes <= length; at += issueRecordBytes) {
        yield chunk.readBigUInt64BE(at);
      }
    }
  } finally {
    closeSync(file);
  }
}
