import type { Clock } from "./clock.ts";

interface Timer {
  readonly atMs: number;
  readonly work: () => void;
}

/** A clock for tests, whose time moves only by {@link advance}. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #suspendedMs = 0;
  #stepsMs = 0;
  readonly #timers = new Set<Timer>();

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.uptimeMs() + this.#stepsMs;
  }

  uptimeMs(): number {
    return this.#nowMs + this.#suspendedMs;
  }

  /** Lets `ms` pass while the machine is suspended: no timer runs, and the monotonic clock does not move. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }

  /** Sets the wall clock forward by `ms`, or back. */
  stepWall(ms: number): void {
    this.#stepsMs += ms;
  }

  schedule(delayMs: number, work: () => void): () => void {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), work };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /**
   * Lets `ms` pass: runs the timers that fall due, in order, and after each one the promises that it has settled, as
   * far as they get without time passing.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (let due = this.#nextDue(untilMs); due !== undefined; due = this.#nextDue(untilMs)) {
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.work();
      await settle();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }
}

/** Runs every promise as far as it gets without time passing. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
