/** How many values a take asks for: enough for a quarter of an hour at the measured rate. Pure. */

/** The bounds of a step, as the sequence's definition has them. */
export interface StepBounds {
  /** At least 1. */
  readonly stepMin: number;
  /** At least stepMin. */
  readonly stepMax: number;
}

/** The measure of the time since the last take. */
export interface StepMeasure {
  /** How many values were handed out. */
  readonly usedCount: number;
  /** How long it took, in milliseconds. */
  readonly elapsedMs: number;
  /** Whether callers had to wait for this take. */
  readonly isStarved: boolean;
}

/** How long a segment should last: callers do not notice an outage of the database that is shorter. */
const segmentLastsMs = 15 * 60_000;
/** The most by which a step grows at once, so that one burst does not take a million values. */
const growth = { starved: 8, steady: 2 } as const;

/**
 * The step of one sequence. The first take asks for the smallest step. Each further take moves towards a step that
 * lasts a quarter of an hour: up by a factor of at most two, or eight while callers wait, and down by at most half.
 */
export class StepPolicy {
  #bounds: StepBounds;
  #step: number;
  #isFirst = true;

  constructor(bounds: StepBounds) {
    this.#bounds = bounds;
    this.#step = bounds.stepMin;
  }

  /** Replaces the bounds, after an update of the sequence. */
  set bounds(bounds: StepBounds) {
    this.#bounds = bounds;
  }

  /** The step of the next take, from stepMin to stepMax, inclusive. */
  next({ usedCount, elapsedMs, isStarved }: StepMeasure): number {
    const { stepMin, stepMax } = this.#bounds;
    if (!this.#isFirst) {
      const target = (usedCount / Math.max(elapsedMs, 1)) * segmentLastsMs;
      const factor = isStarved ? growth.starved : growth.steady;
      this.#step = target > this.#step ? Math.min(target, this.#step * factor) : Math.max(target, this.#step / 2);
    }
    this.#isFirst = false;
    this.#step = Math.min(Math.max(Math.round(this.#step), stepMin), stepMax);
    return this.#step;
  }
}
