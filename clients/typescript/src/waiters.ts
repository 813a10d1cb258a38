import type { Clock } from "./clock.ts";
import { abortError, SnowlaneError } from "./errors.ts";
import { notify, type ClientObserver } from "./observer.ts";

interface Waiter {
  /** A caller waits for an ID of its own, or until there are some. */
  readonly wants: "ID" | "stock";
  readonly settle: (outcome: bigint | undefined | SnowlaneError) => void;
}

/** What a caller waits for, and how long. */
export interface Wait {
  readonly wants: "ID" | "stock";
  readonly timeoutMs: number;
  /** Aborted to cancel the wait; undefined: the wait cannot be cancelled. */
  readonly signal: AbortSignal | undefined;
  /** Makes the error of a caller whose time has run out. */
  readonly errorAtDeadline: () => SnowlaneError;
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
   * Waits for an ID, or for stock without an ID.
   *
   * @throws SnowlaneError CANCELLED, what `errorAtDeadline` makes, what {@link rejectAll} is given.
   */
  wait({ wants, timeoutMs, signal, errorAtDeadline }: Wait): Promise<bigint | undefined> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const startedMs = this.#clock.monotonicMs();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        wants,
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

  /** Claims for each waiter, until there is no stock. */
  serve(stock: { readonly count: number; claim(): bigint | undefined }): void {
    for (const waiter of this.#waiters) {
      if (stock.count === 0) return;
      const id = waiter.wants === "ID" ? stock.claim() : undefined;
      // The whole stock may have been too old.
      if (waiter.wants === "ID" && id === undefined) return;
      waiter.settle(id);
    }
  }

  rejectAll(error: SnowlaneError): void {
    for (const waiter of this.#waiters) waiter.settle(error);
  }
}
