import type { Clock } from "./clock.ts";
import { LinkedAbort } from "./linked-abort.ts";

/** A refill is sent a second time after this many mean round trips without an answer, */
const roundTrips = 4;
/** but not before this much time has passed, */
const delayMinMs = 100;
/** or this much where a connection must be opened. */
const openingMinMs = 500;
/** For this long after the quota was exceeded, no hedge is sent. */
const quotaPauseMs = 5_000;
const rttWeight = 1 / 8;

/** Says when a refill that has no answer is sent a second time: attempts 13 of docs/internals/client-contract.md. */
export class Hedges {
  readonly #clock: Clock;
  readonly #attemptTimeoutMs: number;
  /** 0 before the first answer. */
  #meanRttMs = 0;
  #quotaAtMs = -Infinity;

  constructor(clock: Clock, attemptTimeoutMs: number) {
    this.#clock = clock;
    this.#attemptTimeoutMs = attemptTimeoutMs;
  }

  /** Records how long the answer to a refill took. */
  noteAnswer(durationMs: number): void {
    this.#meanRttMs = this.#meanRttMs === 0 ? durationMs : this.#meanRttMs + rttWeight * (durationMs - this.#meanRttMs);
  }

  /** Records that the caller's quota is used up. */
  noteQuota(): void {
    this.#quotaAtMs = this.#clock.monotonicMs();
  }

  /** Whether no hedge may be sent, because it would be charged to a used-up quota. */
  get arePaused(): boolean {
    return this.#clock.monotonicMs() - this.#quotaAtMs < quotaPauseMs;
  }

  /** How long to wait for an answer before sending the second request. */
  delayMs(mustOpen: boolean): number {
    const [mean, limit] = [this.#meanRttMs, this.#attemptTimeoutMs];
    const delay = mean === 0 ? limit / 4 : Math.min(Math.max(roundTrips * mean, delayMinMs), limit / 2);
    return mustOpen ? Math.max(delay, openingMinMs) : delay;
  }
}

/** One request of two. */
type Leg<T> = (signal: AbortSignal) => Promise<T>;

/** The two requests of one attempt. */
export interface Legs<T> {
  readonly clock: Clock;
  /** Cancels both. */
  readonly signal: AbortSignal;
  readonly first: Leg<T>;
  /** The second request is sent if the first has neither an answer nor an error after this time. */
  readonly delayMs: number;
  /** Returns the second request; undefined if none may be sent. */
  readonly second: () => Leg<T> | undefined;
  /**
   * Called for the request that did not decide the outcome: which one it was, and its error; undefined if it is
   * cancelled.
   */
  readonly onOther?: (isFirst: boolean, error: unknown) => void;
}

/**
 * Runs one request, or two. The first success counts; the other request is cancelled and its answer never read. If one
 * fails, the outcome of the other is awaited.
 *
 * @throws The error of the first request, if both fail.
 */
export async function firstOfTwo<T>({ clock, signal, first, delayMs, second, onOther }: Legs<T>): Promise<T> {
  const abort = new LinkedAbort([signal]);
  let callOff: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      let underWayCount = 0;
      let isOver = false;
      const errors: { readonly isFirst: boolean; readonly cause: unknown }[] = [];
      const end = (outcome: () => void, others: typeof errors): void => {
        isOver = true;
        for (const { isFirst, cause } of others) onOther?.(isFirst, cause);
        outcome();
      };
      const run = (leg: Leg<T>): void => {
        underWayCount++;
        const onAnswer = (answer: T): void => {
          underWayCount--;
          // The other answer is never read.
          if (isOver) return;
          if (underWayCount > 0) errors.push({ isFirst: leg !== first, cause: undefined });
          end(() => resolve(answer), errors);
        };
        leg(abort.signal).then(onAnswer, (cause: unknown) => {
          underWayCount--;
          if (isOver) return;
          errors.push({ isFirst: leg === first, cause });
          if (underWayCount > 0) return;
          const ofFirst = errors.find(({ isFirst }) => isFirst);
          end(
            () => reject(ofFirst?.cause),
            errors.filter((error) => error !== ofFirst),
          );
        });
      };
      run(first);
      callOff = clock.schedule(
        delayMs,
        () => {
          const leg = second();
          if (leg !== undefined) run(leg);
        },
        "keeps process",
      );
    });
  } finally {
    callOff?.();
    abort.unlink();
    abort.abort(undefined);
  }
}
