import type { Clock } from "../clock/clock.ts";

/** A larger request gets at least a tenth of a second's worth at once. */
const shareOfSecond = 10;

/** The rate of a {@link TokenBucket}, and the clock that it fills by. */
export interface TokenBucketOptions {
  /** Tokens a second, at least 1. The bucket holds this many, and is full at first. */
  readonly perSecond: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/**
 * A rate limit: a token bucket that holds one second's worth. Single tokens are taken from a small stock, at most a
 * tenth of a second's worth more, so that most of them cost no reading of the clock. docs/adr/0136 has the reasons.
 */
export class TokenBucket {
  readonly #clock: Pick<Clock, "monotonicMs">;
  #perSecond: number;
  /** Below 0 while tokens are promised that the bucket does not have yet. */
  #left: number;
  #asOfMs: number;
  #stock = 0;

  constructor({ perSecond, clock }: TokenBucketOptions) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond;
    this.#asOfMs = clock.monotonicMs();
  }

  /** A new rate applies from now on. Tokens that were taken stay taken. */
  set perSecond(perSecond: number) {
    if (perSecond === this.#perSecond) return;
    this.#fill();
    this.#left = Math.min(this.#left, perSecond);
    this.#perSecond = perSecond;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Takes one token. @returns false if there is none. */
  takeOne(): boolean {
    if (this.#stock > 0) {
      this.#stock -= 1;
      return true;
    }
    this.#fill();
    const stock = Math.min(this.#whole, this.#share);
    if (stock < 1) return false;
    this.#left -= stock;
    this.#stock = stock - 1;
    return true;
  }

  /**
   * Takes up to `count` tokens: as many as there are, but nothing if that is less than a tenth of a second's worth, or
   * less than `count` if that is smaller.
   *
   * @returns The number that was taken; 0 if there are too few.
   */
  take(count: number): number {
    this.#fill();
    const taken = Math.min(count, this.#whole);
    if (taken < Math.min(count, this.#share)) return 0;
    this.#left -= taken;
    return taken;
  }

  /**
   * Takes tokens as {@link take} does, but promises a tenth of a second's worth if there are too few. Callers get
   * theirs in the order in which they ask.
   */
  book(count: number): { readonly count: number; readonly waitMs: number } {
    const taken = this.take(count);
    if (taken > 0) return { count: taken, waitMs: 0 };
    const promised = Math.min(count, this.#share);
    this.#left -= promised;
    return { count: promised, waitMs: (-this.#left / this.#perSecond) * 1_000 };
  }

  /** Puts back tokens that were not used. */
  giveBack(count: number): void {
    this.#left = Math.min(this.#perSecond, this.#left + count);
  }

  /** The time until {@link take} can take from `count`; 0 if it can now. */
  waitMs(count: number): number {
    this.#fill();
    const missing = Math.min(count, this.#share) - this.#left;
    return missing <= 0 ? 0 : (missing / this.#perSecond) * 1_000;
  }

  /** Whole tokens, with a tolerance: a sum of fractions may be slightly less than it should be. */
  get #whole(): number {
    return Math.floor(this.#left + 1e-6);
  }

  get #share(): number {
    return Math.max(1, Math.floor(this.#perSecond / shareOfSecond));
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs();
    const grown = ((nowMs - this.#asOfMs) * this.#perSecond) / 1_000;
    this.#left = Math.min(this.#perSecond, this.#left + grown + this.#stock);
    this.#stock = 0;
    this.#asOfMs = nowMs;
  }
}
