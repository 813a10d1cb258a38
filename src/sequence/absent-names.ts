import type { Clock } from "../clock/clock.ts";

const forMs = 1_000;
const namesMax = 10_000;

/**
 * Names that the database did not have a moment ago, so that calls for a name that does not exist cost one query a
 * second. At most 10,000 are remembered.
 */
export class AbsentNames {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(name: string): boolean {
    const untilMs = this.#untilMs.get(name);
    if (untilMs === undefined) return false;
    if (this.#clock.monotonicMs() < untilMs) return true;
    this.#untilMs.delete(name);
    return false;
  }

  add(name: string): void {
    this.#untilMs.delete(name);
    this.#untilMs.set(name, this.#clock.monotonicMs() + forMs);
    if (this.#untilMs.size <= namesMax) return;
    for (const first of this.#untilMs.keys()) {
      this.#untilMs.delete(first);
      return;
    }
  }

  delete(name: string): void {
    this.#untilMs.delete(name);
  }
}
