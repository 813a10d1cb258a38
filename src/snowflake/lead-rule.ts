import type { Layout } from "./layout.ts";
import { nsPerMs } from "./nanoseconds.ts";

/** How far timestamps may lead the clock. */
export interface LeadLimits {
  /** Under load: {@link burstMsDefault} by default, at least one tick. */
  readonly burstMs: number;
  /** At any time, no matter what the clock did: {@link leadMaxMsDefault} by default, at least two ticks. */
  readonly leadMaxMs: number;
}

/** A burst of calls is served from the next few ticks instead of being made to wait for a timer. */
const burstMsDefault = 10;
/** More than a leap second, and more than the steps that time daemons make in ordinary operation. */
const leadMaxMsDefault = 2_000;

/** Limits that are asked for; absent means the default. */
export interface AskedLeadLimits {
  /** The most that timestamps lead the clock under load, in milliseconds, at least 0. Default: 10. */
  readonly burstMs?: number | undefined;
  /** The most that timestamps ever lead the clock, in milliseconds. Default: 2,000. */
  readonly leadMaxMs?: number | undefined;
}

/** Returns the limits for a layout: those asked for, but at least one tick for the burst and two for the lead. */
export function leadLimits(layout: Layout, asked: AskedLeadLimits = {}): LeadLimits {
  const tickMs = layout.tickNs / nsPerMs;
  return {
    burstMs: Math.max(asked.burstMs ?? burstMsDefault, tickMs),
    leadMaxMs: Math.max(asked.leadMaxMs ?? leadMaxMsDefault, 2 * tickMs),
  };
}

/**
 * Decides up to which tick IDs may be issued: the clock, plus the burst, plus the debt that a rollback left, and never
 * more than the greatest lead above the clock.
 *
 * The debt is the time by which the clock went back. Without it, a worker at full load that is put 1.5 s ahead of its
 * clock would issue nothing until the clock had caught up; with it, the worker continues at full rate, and its lead
 * shrinks whenever the load leaves room. A clock that swings back and forth does not add each swing to the debt,
 * because what it gains on the monotonic clock is subtracted again.
 *
 * Counts in units: the tick or the millisecond, whichever is finer, so that all sums are of whole numbers.
 * docs/adr/0001 explains why gains are counted from the highest offset.
 */
export class LeadRule {
  readonly #epochMs: number;
  readonly #unitsPerMs: number;
  readonly #unitsPerTick: number;
  readonly #burstTicks: number;
  readonly #leadMaxTicks: number;
  readonly #hasDebt: boolean;
  /** NaN before the first reading. */
  #readingMs = Number.NaN;
  #debtUnits = 0;
  /** The highest of wall minus monotonic clock since the last step back; undefined while there is no debt. */
  #offsetMs: number | undefined;
  /** The tick of the last reading. Negative before the epoch. */
  nowTick = 0;
  /** The highest tick that may be issued at the last reading. */
  limitTick = 0;

  /** @param hasDebt - False for the policies that put no timestamp ahead of a clock that went back. */
  constructor(layout: Layout, limits: LeadLimits, hasDebt = true) {
    const tickMs = layout.tickNs / nsPerMs;
    this.#epochMs = layout.epochMs;
    this.#unitsPerMs = tickMs < 1 ? nsPerMs / layout.tickNs : 1;
    this.#unitsPerTick = tickMs < 1 ? 1 : tickMs;
    this.#burstTicks = Math.floor((limits.burstMs * nsPerMs) / layout.tickNs);
    this.#leadMaxTicks = Math.floor((limits.leadMaxMs * nsPerMs) / layout.tickNs);
    this.#hasDebt = hasDebt;
  }

  /** The burst in ticks. */
  get burstTicks(): number {
    return this.#burstTicks;
  }

  /** The most ticks by which a timestamp may lead the clock. */
  get leadMaxTicks(): number {
    return this.#leadMaxTicks;
  }

  /** The lead that a rollback still allows beyond the burst, in milliseconds. */
  get debtMs(): number {
    return this.#debtUnits / this.#unitsPerMs;
  }

  /** Begins again with a grant: the debt is the time by which its first tick is ahead of the clock. */
  begin(firstTick: number, nowMs: number): void {
    this.#readingMs = nowMs;
    this.#offsetMs = undefined;
    const aheadUnits = firstTick * this.#unitsPerTick - this.#toUnits(nowMs);
    this.#debtUnits = this.#hasDebt ? Math.max(0, aheadUnits) : 0;
    this.#permit();
  }

  /**
   * Takes a reading of the clock; one that equals the reading before changes nothing.
   *
   * @param highestTick - The highest tick that an ID was issued in.
   * @param monotonicMs - Read only while there is a debt.
   */
  read(nowMs: number, highestTick: number, monotonicMs: () => number): void {
    if (nowMs === this.#readingMs) return;
    if (this.#hasDebt && nowMs < this.#readingMs) {
      this.#debtUnits += (this.#readingMs - nowMs) * this.#unitsPerMs;
      this.#offsetMs = undefined;
    }
    this.#readingMs = nowMs;
    if (this.#debtUnits > 0) {
      const offsetMs = nowMs - monotonicMs();
      const gainedMs = this.#offsetMs === undefined ? 0 : Math.max(0, offsetMs - this.#offsetMs);
      // The highest offset is used, not the last: the wall clock is read in whole milliseconds, and its rounding must
      // not count as a gain each time.
      this.#offsetMs = Math.max(offsetMs, this.#offsetMs ?? offsetMs);
      const leadUnits = highestTick * this.#unitsPerTick - this.#toUnits(nowMs);
      this.#debtUnits = Math.max(0, Math.min(this.#debtUnits - gainedMs * this.#unitsPerMs, leadUnits));
      if (this.#debtUnits === 0) this.#offsetMs = undefined;
    }
    this.#permit();
  }

  /**
   * The first Unix millisecond at which `tick` may be issued, if the clock runs on normally and nothing is issued until
   * then.
   *
   * @param highestTick - The highest tick that an ID was issued in: no debt reaches beyond it.
   */
  permittedAtMs(tick: number, highestTick: number): number {
    const neededUnits = (tick - this.#burstTicks) * this.#unitsPerTick;
    const debtUnits = highestTick * this.#unitsPerTick >= neededUnits ? Math.floor(this.#debtUnits) : 0;
    return this.#toMsUp(Math.max(neededUnits - debtUnits, (tick - this.#leadMaxTicks) * this.#unitsPerTick));
  }

  /** Whether `tick` is above the greatest lead, and not only above the burst. */
  isAboveLeadMax(tick: number): boolean {
    return tick > this.nowTick + this.#leadMaxTicks;
  }

  #permit(): void {
    const nowUnits = this.#toUnits(this.#readingMs);
    this.nowTick = Math.floor(nowUnits / this.#unitsPerTick);
    const indebtedTick = Math.floor((nowUnits + Math.floor(this.#debtUnits)) / this.#unitsPerTick);
    this.limitTick = Math.min(indebtedTick + this.#burstTicks, this.nowTick + this.#leadMaxTicks);
  }

  #toUnits(unixMs: number): number {
    return (unixMs - this.#epochMs) * this.#unitsPerMs;
  }

  #toMsUp(units: number): number {
    return this.#epochMs + Math.ceil(units / this.#unitsPerMs);
  }
}
