import type { IdRun } from "./run-source.ts";

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
  readonly #cancelExpiry: () => void;

  constructor(runs: readonly IdRun[], count: number, cancelExpiry: () => void) {
    this.#runs = runs.toReversed();
    this.count = count;
    this.leftCount = count;
    this.#cancelExpiry = cancelExpiry;
  }

  /** Takes the next run out; undefined if none is left. */
  takeRun(): IdRun | undefined {
    const run = this.#runs.pop();
    this.leftCount -= run?.count ?? 0;
    return run;
  }

  /** To be called once it is used up or dropped. */
  retire(): void {
    this.#cancelExpiry();
  }
}
