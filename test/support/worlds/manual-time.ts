import { setImmediate } from "node:timers/promises";
import type { Clock, Timers } from "../../../src/clock/clock.ts";

/** Time that stands still until a test moves it: wall clock, monotonic clock, uptime and timers. */
export class ManualTime implements Clock, Timers {
  #wallMs: number;
  #monotonicMs = 1_000;
  #uptimeMs = 50_000;
  #nextTimer = 0;
  readonly #timers = new Map<number, { readonly atMs: number; readonly task: () => void }>();

  /** @param wallMs - What the wall clock says at first; the default is a plausible date. */
  constructor(wallMs = Date.UTC(2027, 0, 1)) {
    this.#wallMs = wallMs;
  }

  nowMs(): number {
    return Math.floor(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  uptimeMs(): number {
    return this.#uptimeMs;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = (this.#nextTimer += 1);
    this.#timers.set(timer, { atMs: this.#monotonicMs + Math.max(delayMs, 0), task });
    return () => this.#timers.delete(timer);
  }

  /** Steps the wall clock alone. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** The machine sleeps: the monotonic clock and the timers stand still. */
  suspend(forMs: number): void {
    this.#wallMs += forMs;
    this.#uptimeMs += forMs;
  }

  /** The process stands still: all clocks go on, and timers run late, all at once. */
  async pause(forMs: number): Promise<void> {
    this.stall(forMs);
    await this.run(0);
  }

  /** The same, but nothing has run yet. */
  stall(forMs: number): void {
    this.#move(forMs);
  }

  /** Lets time pass and everything that is due happen, in order; then lets all promises settle. */
  async run(forMs: number): Promise<void> {
    const endMs = this.#monotonicMs + forMs;
    await setImmediate();
    for (let due = this.#nextDue(endMs); due !== undefined; due = this.#nextDue(endMs)) {
      const [timer, { atMs, task }] = due;
      this.#timers.delete(timer);
      this.#move(Math.max(0, atMs - this.#monotonicMs));
      task();
      await setImmediate();
    }
    this.#move(Math.max(0, endMs - this.#monotonicMs));
  }

  #nextDue(endMs: number): [number, { readonly atMs: number; readonly task: () => void }] | undefined {
    let first: [number, { readonly atMs: number; readonly task: () => void }] | undefined;
    for (const entry of this.#timers) {
      if (entry[1].atMs <= endMs && (first === undefined || entry[1].atMs < first[1].atMs)) first = entry;
    }
    return first;
  }

  #move(byMs: number): void {
    this.#wallMs += byMs;
    this.#monotonicMs += byMs;
    this.#uptimeMs += byMs;
  }
}
