import type { Timers } from "./clock.ts";

/**
 * Lets one loop sleep, and others wake it. A call to wake that comes while the loop works is not lost: the next sleep
 * then ends at once.
 */
export class Sleeper {
  readonly #timers: Timers;
  #wake: (() => void) | undefined;
  #woken = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Resolves after `delayMs`, or when {@link wake} is called, whichever is first. One sleep at a time. */
  sleep(delayMs: number): Promise<void> {
    if (this.#woken) {
      this.#woken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = (): void => {
        this.#wake = undefined;
        cancel();
        resolve();
      };
      const cancel = this.#timers.after(delayMs, end);
      this.#wake = end;
    });
  }

  wake(): void {
    if (this.#wake === undefined) this.#woken = true;
    else this.#wake();
  }
}

/**
 * The back-off before the next try: doubles with each failure up to a bound, and varies at random by half, so that a
 * thousand processes that failed together do not retry together.
 *
 * @param failures - In a row; at least 1.
 */
export function backoffMs(
  failures: number,
  bounds: { readonly firstMs: number; readonly maxMs: number },
  random: () => number,
): number {
  return jittered(Math.min(bounds.maxMs, bounds.firstMs * 2 ** Math.min(failures - 1, 20)), random);
}

/** A pause that varies at random by half: from half of `longestMs` to all of it. */
export function jittered(longestMs: number, random: () => number): number {
  return longestMs * (0.5 + random() / 2);
}
