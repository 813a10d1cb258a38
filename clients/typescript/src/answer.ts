import type { Moment } from "./moment.ts";
import type { IdRun } from "./run-source.ts";

/** How long the IDs of an answer may be used. */
export interface Lifetime {
  /** When the source was asked, before the first attempt. */
  readonly asked: Moment;
  readonly maxAgeMs: number;
}

/**
 * The runs of one reservation, or of one piece of it, on their way through a buffer: one age, one low-water mark. Each
 * run leaves it once.
 */
export class Answer {
  readonly #runs: IdRun[];
  /** IDs of the runs that are still in here. */
  leftCount: number;
  /** IDs of all its runs. */
  readonly count: number;
  /** Whether the next answer has been asked for on behalf of this one. */
  hasAsked = false;
  /** A piece of the reserve asks for an answer with its first ID: the working stock is empty then. */
  isOfReserve = false;
  /** When its first run was put in place, by the monotonic clock; undefined: none of its IDs was handed out. */
  inUseFromMs: number | undefined;
  readonly #lifetime: Lifetime;
  /** Stops the timer that drops it. */
  cancelExpiry = (): void => {};

  constructor(runs: readonly IdRun[], lifetime: Lifetime) {
    this.#runs = runs.toReversed();
    this.count = runs.reduce((sum, run) => sum + run.count, 0);
    this.leftCount = this.count;
    this.#lifetime = lifetime;
  }

  /** Takes the next run out; undefined if none is left. */
  takeRun(): IdRun | undefined {
    const run = this.#runs.pop();
    this.leftCount -= run?.count ?? 0;
    return run;
  }

  get ageMs(): number {
    return this.#lifetime.asked.elapsedMs();
  }

  /** Whether its IDs are older than they may be, though its timer has not run yet. */
  get isTooOld(): boolean {
    return this.ageMs >= this.#lifetime.maxAgeMs;
  }
}

/** Cuts runs into pieces of `size` IDs, the last one of what is left. */
export function cutRuns(runs: readonly IdRun[], size: number): readonly IdRun[][] {
  const pieces: IdRun[][] = [];
  let room = 0;
  for (let { firstId, count, stride } of runs) {
    while (count > 0) {
      if (room === 0) {
        pieces.push([]);
        room = size;
      }
      const taken = Math.min(room, count);
      pieces.at(-1)!.push({ firstId, count: taken, stride });
      firstId += BigInt(taken) * stride;
      count -= taken;
      room -= taken;
    }
  }
  return pieces;
}
