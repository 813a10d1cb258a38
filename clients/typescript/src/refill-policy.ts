/** Bounds of one reservation. */
export interface RefillBounds {
  /** The fewest IDs, at least 1. */
  readonly countMin: number;
  /** The most IDs, at least `countMin`. */
  readonly countMax: number;
}

/** A reservation should cover this much time at the current rate, and the rate is measured over at least this time. */
const spanMs = 1_000;
/** The low-water mark covers this many round trips, so that callers do not notice one slow answer in a thousand. */
const roundTripsOfStock = 8;
/** The low-water mark is at least this part of an answer. */
const stockPart = 1 / 4;
const rttWeight = 1 / 8;
/**
 * Use is growing if the mark of an answer is met within this time: the next answer then has at least twice as many IDs.
 */
const rushMs = 250;

/** How many IDs had been handed out at a given moment. */
export interface Handed {
  readonly atMs: number;
  readonly count: number;
}

/**
 * Decides how much to reserve, and when. It gets the counts of IDs handed out and the durations of reservations, and
 * reads no clock.
 *
 * Example: callers use 2,000 IDs a second, and the bounds are 32 and 65,536.
 * - The first reservation asks for 32: no rate is known.
 * - Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a quarter,
 *   500 left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms 1,600, which is
 *   then the mark.
 * - Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for 32
 *   again.
 * - A burst does not wait for that second: where an answer of 32 is used down to its mark within 250 ms, the next
 *   reservation asks for 64, and so on.
 */
export class RefillPolicy {
  readonly #bounds: RefillBounds;
  /** The rate is measured from the older one: over 1 to 2 s while refills come each second. */
  #older: Handed | undefined;
  #newer: Handed | undefined;
  #rate = 0;
  #meanRttMs = 0;
  /**
   * The least that the next reservation asks for: 0 until the mark of the answer in use is met, and 0 if that took
   * longer than `rushMs`.
   */
  #growth = 0;

  constructor(bounds: RefillBounds) {
    this.#bounds = bounds;
  }

  get ratePerSecond(): number {
    return this.#rate;
  }

  /** 0 before the first answer. */
  get meanRttMs(): number {
    return this.#meanRttMs;
  }

  /** Records how many IDs have been handed out so far. The rate rises at once and falls by halves. */
  noteHandedOut(now: Handed): void {
    if (this.#newer === undefined || now.atMs - this.#newer.atMs >= spanMs) {
      this.#older = this.#newer ?? now;
      this.#newer = now;
    }
    const { atMs, count } = this.#older ?? now;
    const measured = ((now.count - count) * 1_000) / Math.max(spanMs, now.atMs - atMs);
    this.#rate = Math.max(measured, this.#rate / 2);
  }

  noteRoundTrip(durationMs: number): void {
    this.#meanRttMs = this.#meanRttMs === 0 ? durationMs : this.#meanRttMs + rttWeight * (durationMs - this.#meanRttMs);
  }

  /** Records that an answer is in use from now on. */
  noteInUse(): void {
    this.#growth = 0;
  }

  /** Records that the answer in use, of `count` IDs, was used down to its mark within `durationMs`. */
  noteMark(count: number, durationMs: number): void {
    this.#growth = durationMs <= rushMs ? 2 * count : 0;
  }

  /** Records that the buffer goes to sleep: the measurements start over. */
  forget(): void {
    this.#older = undefined;
    this.#newer = undefined;
  }

  /** IDs to ask for. */
  get reserveCount(): number {
    return this.#bound(Math.max(this.#growth, this.secondCount));
  }

  /** IDs that are used within a second, within the bounds of a reservation. */
  get secondCount(): number {
    return this.#bound(Math.ceil((this.#rate * spanMs) / 1_000));
  }

  /** The mark of an answer of `count` IDs: the next answer is due once that many or fewer are left. */
  lowWater(count: number): number {
    return Math.min(
      count,
      Math.ceil(Math.max(roundTripsOfStock * this.#rate * (this.#meanRttMs / 1_000), count * stockPart)),
    );
  }

  #bound(count: number): number {
    const { countMin, countMax } = this.#bounds;
    return Math.min(countMax, Math.max(countMin, count));
  }
}
