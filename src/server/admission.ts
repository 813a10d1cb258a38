import type { Clock, Timers } from "../clock.ts";

/** Over how much time a rate may be used up at once: callers connect in crowds. */
const burstMs = 500;
const lookMs = 1;
/** How many come in at one look, or twice the rate: a crowd of 500 at once would keep everybody waiting for 50 ms. */
const perLook = 4;
/** What a place can be charged with at most: nobody there waits longer than for this, and its own line. */
const debtMaxMs = 2_000;

/** How many may come in. */
export interface AdmissionLimits {
  readonly perSecond: number;
  /** How many guests from one place may break the rules in a second before those who come from there have to wait. */
  readonly violationsPerSecond: number;
  /** How many guests from one place may wait. */
  readonly lineMax: number;
}

/**
 * Lets so many in a second, and the rest wait in line: a new connection costs more than fifty calls do, over TLS a
 * thousand, and whoever is cut off connects anew. Guests from one place have a line of their own, and the lines take
 * turns: a crowd keeps nobody waiting but itself. Whoever breaks the rules is soon back, so the place that they come
 * from pays with time in which nobody is let in from there.
 */
export class Admission<Guest> {
  readonly #intervalMs: number;
  readonly #violationMs: number;
  /** What each place may owe before it has to wait. */
  readonly #creditMs: number;
  readonly #lineMax: number;
  readonly #enter: (guest: Guest) => void;
  readonly #time: Clock & Timers;
  /** Lines by the place that their guests come from, none of them empty; the first is next. */
  readonly #lines = new Map<string, Set<Guest>>();
  /** When each place will have paid for its violations. Those charged last are last. */
  readonly #paidByMs = new Map<string, number>();
  /** When all of the burst will be there again. */
  #filledMs = 0;
  #lookedMs = -Infinity;
  #leftInLook = 0;
  #isPlanned = false;

  constructor(limits: AdmissionLimits, time: Clock & Timers, enter: (guest: Guest) => void) {
    const { perSecond, violationsPerSecond, lineMax } = limits;
    this.#intervalMs = 1_000 / perSecond;
    this.#violationMs = 1_000 / violationsPerSecond;
    this.#creditMs = Math.max(burstMs, this.#violationMs);
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

  /**
   * A guest from there broke a rule that only an attacker, or a program gone wrong, breaks often. Returns whether those
   * who come from there have to wait from now on.
   */
  charge(from: string): boolean {
    const nowMs = this.#time.monotonicMs();
    for (const [place, paidByMs] of this.#paidByMs) {
      if (paidByMs > nowMs) break;
      this.#paidByMs.delete(place);
    }
    const wasInDebt = this.#isInDebt(from, nowMs);
    const paidByMs = Math.max(this.#paidByMs.get(from) ?? 0, nowMs) + this.#violationMs;
    this.#paidByMs.delete(from);
    this.#paidByMs.set(from, Math.min(paidByMs, nowMs + this.#creditMs + debtMaxMs));
    return !wasInDebt && this.#isInDebt(from, nowMs);
  }

  /** Whether somebody waits whom the rate alone keeps out. */
  get isCrowded(): boolean {
    const nowMs = this.#time.monotonicMs();
    for (const from of this.#lines.keys()) if (!this.#isInDebt(from, nowMs)) return true;
    return false;
  }

  #isInDebt(from: string, nowMs: number): boolean {
    return (this.#paidByMs.get(from) ?? 0) > nowMs + this.#creditMs;
  }

  #letIn(): void {
    const nowMs = this.#time.monotonicMs();
    if (nowMs - this.#lookedMs >= lookMs) {
      this.#lookedMs = nowMs;
      this.#leftInLook = Math.max(perLook, Math.ceil((2 * lookMs) / this.#intervalMs));
    }
    for (const [from, line] of this.#lines) {
      if (this.#leftInLook === 0) break;
      if (this.#isInDebt(from, nowMs)) continue;
      const filledMs = Math.max(this.#filledMs, nowMs) + this.#intervalMs;
      if (filledMs > nowMs + Math.max(burstMs, this.#intervalMs)) break;
      this.#filledMs = filledMs;
      this.#leftInLook--;
      const guest = line.values().next().value as Guest;
      line.delete(guest);
      this.#lines.delete(from);
      // Last of all lines: that is the rotation, and the loop comes to it again.
      if (line.size > 0) this.#lines.set(from, line);
      this.#enter(guest);
    }
    if (this.#lines.size > 0) this.#planNext();
  }

  #planNext(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#time.after(lookMs, () => {
      this.#isPlanned = false;
      this.#letIn();
    });
  }
}
