import type { Moment } from "./moment.ts";
import type { IdRun } from "./run-source.ts";

/** How long the IDs of an answer may be used. */
export interface Lifetime {
  /** When the source was asked, before the first attempt. */
  readonly asked: Moment;
  readonly maxAgeMs: number;
  /** Stops the timer that drops the answer. */
  readonly cancelExpiry: () => void;
}

/** The runs of one reservation on their way through a buffer: one age, one low-water mark. Each run leaves it once. */
export class Answer {
  readonly #runs: IdRun[];
  /** IDs of the runs that are still in here. */
  leftCount: number;
  /** IDs of all its runs. */
  readonly count: number;
  /** Whether the next answer has been asked for on behalf of this one. */
  hasAsked = false;
  /** Whether any of its IDs may have been handed out. */
  isTouched = false;
  readonly #lifetime: Lifetime;

  constructor(runs: readonly IdRun[], count: number, lifetime: Lifetime) {
    this.#runs = runs.toReversed();
    this.count = count;
    this.leftCount = count;
    this.#lifetime = lifetime;
  }

  /** Takes the next run out; undefined if none is left. */
  takeRun(): IdRun | undefined {
    const run = this.#runs.pop();
    this.leftCount -= run?.count ?? 0;
    return run;
  }

  /** Whether its IDs are older than they may be, though its timer has not run yet. */
  get isTooOld(): boolean {
    return this.#lifetime.asked.elapsedMs() >= this.#lifetime.maxAgeMs;
  }

  /** To be called once it is used up or dropped. */
  retire(): void {
    this.#lifetime.cancelExpiry();
  }
}
