import type { Moment } from "./moment.ts";
import type { IdRun } from "./run-source.ts";

/** How long the IDs of an answer may be used. */
export interface Lifetime {
  /** When the source was asked, before the first attempt. */
  readonly asked: Moment;
  readonly maxAgeMs: number;
}

/**
 * The runs of one reservation, or of one piece of it, on their way through a buffer. They share one age and one
 * low-water mark. Each run is taken out once.
 */
export class Answer {
  readonly #runs: IdRun[];
  /** IDs of the runs that are still in here. */
  leftCount: number;
  /** IDs of all its runs. */
  readonly count: number;
  /** Whether this answer has caused the request for the next one. */
  hasAsked = false;
  /**
   * Whether it is a piece of the reserve. Such a piece asks for the next answer at its first ID, because the working
   * stock is then empty.
   */
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

/** Cuts runs into pieces of `size` IDs; the last piece has the rest. */
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
