/** A budget for what is cheap for a client and dear for us: RFC 9113 section 10.5. */
import { ConnectionError, errorCode } from "./error-code.ts";

/** A token bucket. It starts full. */
export class Budget {
  readonly #what: string;
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #filledMs: number;

  constructor(options: { readonly what: string; readonly burst: number; readonly perSecond: number }, nowMs: number) {
    this.#what = options.what;
    this.#burst = options.burst;
    this.#perMs = options.perSecond / 1000;
    this.#left = options.burst;
    this.#filledMs = nowMs;
  }

  /**
   * @param isExcusable - As {@link ConnectionError.isExcusable}.
   * @throws ConnectionError ENHANCE_YOUR_CALM when nothing is left.
   */
  spend(nowMs: number, isExcusable = false): void {
    // Time is looked at only when the bucket is empty: a client that behaves costs one subtraction.
    if (this.#left < 1) {
      this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#filledMs) * this.#perMs);
      this.#filledMs = nowMs;
      if (this.#left < 1) throw new ConnectionError(errorCode.enhanceYourCalm, `too many ${this.#what}`, isExcusable);
    }
    this.#left--;
  }

  /** Gives one back. */
  refund(): void {
    if (this.#left < this.#burst) this.#left++;
  }
}
