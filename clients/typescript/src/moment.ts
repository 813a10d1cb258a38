import type { Clock } from "./clock.ts";

/** If the wall clock gained more than this on the monotonic clock, the machine was suspended or the clock was set. */
const stepMs = 1_000;

/**
 * A point in time that knows how long ago it was. Time in which the machine was suspended counts; a step of the wall
 * clock does not.
 */
export class Moment {
  readonly #clock: Clock;
  readonly #monotonicMs: number;
  readonly #wallMs: number;
  readonly #uptimeMs: number | undefined;

  /** Now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#monotonicMs = clock.monotonicMs();
    this.#wallMs = clock.wallMs();
    this.#uptimeMs = clock.uptimeMs?.();
  }

  elapsedMs(): number {
    const clock = this.#clock;
    const runningMs = clock.monotonicMs() - this.#monotonicMs;
    const wallMs = clock.wallMs() - this.#wallMs;
    // Reading the uptime costs more than reading the clocks, so it is read only where it decides.
    if (wallMs - runningMs <= stepMs || this.#uptimeMs === undefined) return Math.max(runningMs, wallMs);
    return Math.max(runningMs, (clock.uptimeMs?.() ?? 0) - this.#uptimeMs);
  }
}
