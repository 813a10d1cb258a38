import type { Clock } from "./clock.ts";

/** Where the wall clock ran ahead by more, the machine was suspended, or the clock was set. */
const stepMs = 1_000;

/** A moment, and how long ago it was: the time of a suspended machine counts, a step of the clock does not. */
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
    // The uptime costs more than the clocks, so that it is read only where it decides.
    if (wallMs - runningMs <= stepMs || this.#uptimeMs === undefined) return Math.max(runningMs, wallMs);
    return Math.max(runningMs, (clock.uptimeMs?.() ?? 0) - this.#uptimeMs);
  }
}
