import type { Clock, Timers } from "../clock.ts";

/** Over how much time a rate may be used up at once: callers connect in crowds. */
const burstMs = 500;
const lookMs = 1;

/** How many may come in. */
export interface AdmissionLimits {
  readonly perSecond: number;
  /** How many guests from one place may wait. */
  readonly lineMax: number;
}

/**
 * Lets so many in a second, and the rest wait in line: a new connection costs more than fifty calls do, over TLS a
 * thousand, and whoever is cut off connects anew. Guests from one place have a line of their own, and the lines take
 * turns: a crowd keeps nobody waiting but itself.
 */
export class Admission<Guest> {
  readonly #intervalMs: number;
  readonly #lineMax: number;
  readonly #enter: (guest: Guest) => void;
  readonly #time: Clock & Timers;
  /** Lines by the place that their guests come from, none of them empty; the first is next. */
  readonly #lines = new Map<string, Set<Guest>>();
  /** When all of the burst will be there again. */
  #filledMs = 0;
  #isPlanned = false;

  constructor({ perSecond, lineMax }: AdmissionLimits, time: Clock & Timers, enter: (guest: Guest) => void) {
    this.#intervalMs = 1_000 / perSecond;
    this.#lineMax = lineMax;
    this.#time = time;
    this.#enter = enter;
  }

  /** Lets a guest in, now or later. Returns false where too many from there wait. */
  ask(guest: Guest, from: string): boolean {
    const line = this.#lines.get(from);
    if (line === undefined) this.#lines.set(from, new Set([guest]));
    else if (line.size >= this.#lineMax) return false;
    else line.add(guest);
    if (!this.#isPlanned) this.#letIn();
    return true;
  }

  /** A guest does not wait any more. */
  leave(guest: Guest, from: string): void {
    const line = this.#lines.get(from);
    line?.delete(guest);
    if (line?.size === 0) this.#lines.delete(from);
  }

  #letIn(): void {
    const nowMs = this.#time.monotonicMs();
    for (const [from, line] of this.#lines) {
      const filledMs = Math.max(this.#filledMs, nowMs) + this.#intervalMs;
      if (filledMs > nowMs + Math.max(burstMs, this.#intervalMs)) {
        this.#planNext();
        return;
      }
      this.#filledMs = filledMs;
      const guest = line.values().next().value as Guest;
      line.delete(guest);
      this.#lines.delete(from);
      // Last of all lines: that is the rotation, and the loop comes to it again.
      if (line.size > 0) this.#lines.set(from, line);
      this.#enter(guest);
    }
  }

  #planNext(): void {
    this.#isPlanned = true;
    this.#time.after(lookMs, () => {
      this.#isPlanned = false;
      this.#letIn();
    });
  }
}
