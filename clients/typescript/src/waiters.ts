import type { Clock } from "./clock.ts";
import { abortError, SnowlaneError } from "./errors.ts";
import { notify, type ClientObserver } from "./observer.ts";

interface Waiter {
  readonly settle: (outcome: bigint | SnowlaneError) => void;
}

/** The callers that found a buffer dry, first come, first served. They own nothing until an ID is given to them. */
export class Waiters {
  readonly #clock: Clock;
  readonly #observer: ClientObserver;
  /** In the order of their arrival. */
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock, observer: ClientObserver) {
    this.#clock = clock;
    this.#observer = observer;
  }

  get count(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for an ID.
   *
   * @param errorAtDeadline - Makes the error of a caller whose time has run out.
   * @throws SnowlaneError CANCELLED, what `errorAtDeadline` makes, what {@link rejectAll} is given.
   */
  wait(timeoutMs: number, signal: AbortSignal | undefined, errorAtDeadline: () => SnowlaneError): Promise<bigint> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const startedMs = this.#clock.monotonicMs();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        settle: (outcome) => {
          this.#waiters.delete(waiter);
          cancelTimer();
          signal?.removeEventListener("abort", cancel);
          const durationMs = this.#clock.monotonicMs() - startedMs;
          if (outcome instanceof SnowlaneError) {
            notify(() => this.#observer.onWait?.({ durationMs, reason: outcome.reason }));
            reject(outcome);
          } else {
            notify(() => this.#observer.onWait?.({ durationMs }));
            resolve(outcome);
          }
        },
      };
      const cancel = (event: Event): void => waiter.settle(abortError(event.target as AbortSignal));
      const cancelTimer = this.#clock.schedule(timeoutMs, () => waiter.settle(errorAtDeadline()), "keeps process");
      signal?.addEventListener("abort", cancel);
      this.#waiters.add(waiter);
    });
  }

  /** Gives each waiter what `take` claims for it, until `take` has nothing. */
  serve(take: () => bigint | undefined): void {
    for (const waiter of this.#waiters) {
      const id = take();
      if (id === undefined) return;
      waiter.settle(id);
    }
  }

  rejectAll(error: SnowlaneError): void {
    for (const waiter of this.#waiters) waiter.settle(error);
  }
}
