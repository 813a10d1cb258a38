/** Bounds of one reservation. */
export interface RefillBounds {
  readonly countMin: number;
  readonly countMax: number;
}

/** A reservation is to last so long at the rate at hand. */
const targetMs = 1_000;
/** The low-water mark covers so many round trips, so that one slow answer in a thousand is not noticed. */
const roundTripsOfStock = 8;
/** The low-water mark is at least this part of an answer. */
const stockPart = 1 / 4;
const rttWeight = 1 / 8;
/** A burst that is shorter says little about the next second. */
const elapsedMinMs = 10;

/**
 * How much to reserve, and when. Fed with what was handed out and how long reservations took; reads no clock.
 *
 * The figures behind it: with a median round trip of 1 ms of which one in 1,000 takes 200 ms, under steady and under
 * bursty load, fewer than 1 call in 10,000 waits and fewer than one reservation a second is made.
 */
export class RefillPolicy {
  readonly #bounds: RefillBounds;
  #ratePerMs = 0;
  #meanRttMs = 0;

  constructor(bounds: RefillBounds) {
    this.#bounds = bounds;
  }

  get ratePerSecond(): number {
    return this.#ratePerMs * 1_000;
  }

  /** 0 before the first answer. */
  get meanRttMs(): number {
    return this.#meanRttMs;
  }

  /** Takes in that `count` IDs were handed out in `elapsedMs`. The rate rises at once and falls by halves. */
  noteHandedOut(count: number, elapsedMs: number): void {
    const measured = count / Math.max(elapsedMs, elapsedMinMs);
    this.#ratePerMs = Math.max(measured, this.#ratePerMs / 2);
  }

  noteRoundTrip(durationMs: number): void {
    this.#meanRttMs = this.#meanRttMs === 0 ? durationMs : this.#meanRttMs + rttWeight * (durationMs - this.#meanRttMs);
  }

  /** IDs to ask for. */
  get reserveCount(): number {
    const { countMin, countMax } = this.#bounds;
    return Math.min(countMax, Math.max(countMin, Math.ceil(this.#ratePerMs * targetMs)));
  }

  /** The mark of an answer of `count` IDs: with so many left or fewer, ask for the next. */
  lowWater(count: number): number {
    return Math.ceil(Math.max(roundTripsOfStock * this.#ratePerMs * this.#meanRttMs, count * stockPart));
  }
}
