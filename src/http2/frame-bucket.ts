/** A limit on the rate of frames that are cheap for a client and expensive for a server: RFC 9113 section 10.5. */
import { ConnectionError, errorCode } from "./error-code.ts";

/**
 * A token bucket. It starts full, with two seconds' worth unless `burst` says otherwise.
 *
 * Example with `burst` 200 and `perSecond` 100: a client may send 200 SETTINGS at once, then one every 10 ms. After two
 * seconds without any, the bucket is full again. docs/adr/0043 and docs/adr/0108 say which frames have such a bucket.
 */
export class FrameBucket {
  readonly #what: string;
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #filledMs: number;

  constructor(options: { readonly what: string; readonly perSecond: number; readonly burst?: number }, nowMs: number) {
    const { what, perSecond, burst = 2 * perSecond } = options;
    this.#what = what;
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#left = burst;
    this.#filledMs = nowMs;
  }

  /**
   * Takes one token.
   *
   * @throws ConnectionError ENHANCE_YOUR_CALM when the bucket is empty.
   */
  take(nowMs: number): void {
    if (this.#isEmpty(nowMs)) throw new ConnectionError(errorCode.enhanceYourCalm, `too many ${this.#what}`);
    this.#left--;
  }

  /**
   * Takes one token, if necessary one that the bucket gets later. Returns in how many milliseconds it gets that token.
   */
  borrow(nowMs: number): number {
    const isBorrowed = this.#isEmpty(nowMs);
    this.#left--;
    return isBorrowed ? -this.#left / this.#perMs : 0;
  }

  /** The bucket is filled only when it is empty, so that most calls cost one comparison. */
  #isEmpty(nowMs: number): boolean {
    if (this.#left >= 1) return false;
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#filledMs) * this.#perMs);
    this.#filledMs = nowMs;
    return this.#left < 1;
  }

  /** Puts one token back. */
  refund(): void {
    if (this.#left < this.#burst) this.#left++;
  }
}
