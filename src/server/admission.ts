import type { Clock, Timers } from "../clock.ts";

/** Over how much time a rate may be used up at once: callers connect in crowds. */
const burstMs = 500;
const lookMs = 1;

/**
 * Lets so many in a second, and the rest wait in line: a new connection costs more than fifty calls do, over TLS a
 * thousand, and whoever is cut off connects anew.
 */
export class Admission<Guest> {
  readonly #intervalMs: number;
  readonly #enter: (guest: Guest) => void;
  readonly #time: Clock & Timers;
  /** Bounded by the most connections at once; whoever leaves is taken out. */
  readonly #waiting = new Set<Guest>();
  /** When all of the burst will be there again. */
  #filledMs = 0;

  constructor(perSecond: number, time: Clock & Timers, enter: (guest: Guest) => void) {
    this.#intervalMs = 1_000 / perSecond;
    this.#time = time;
    this.#enter = enter;
  }

  /** Lets a guest in, now or later. */
  ask(guest: Guest): void {
    this.#waiting.add(guest);
    if (this.#waiting.size === 1) this.#letIn();
  }

  /** A guest does not wait any more. */
  leave(guest: Guest): void {
    this.#waiting.delete(guest);
  }

  #letIn(): void {
    const nowMs = this.#time.monotonicMs();
    for (const guest of this.#waiting) {
      const filledMs = Math.max(this.#filledMs, nowMs) + this.#intervalMs;
      if (filledMs > nowMs + Math.max(burstMs, this.#intervalMs)) {
        this.#time.after(lookMs, () => this.#letIn());
        return;
      }
      this.#filledMs = filledMs;
      this.#waiting.delete(guest);
      this.#enter(guest);
    }
  }
}
