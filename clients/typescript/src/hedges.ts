import type { Clock } from "./clock.ts";
import { LinkedAbort } from "./linked-abort.ts";

/** A refill is sent again after so many mean round trips without an answer, */
const roundTrips = 4;
/** and after no less than this, */
const delayMinMs = 100;
/** or this, where a connection must be opened. */
const openingMinMs = 500;
/** No hedge follows a quota that was exceeded for so long. */
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

  /** Takes in how long the answer to a refill took. */
  noteAnswer(durationMs: number): void {
    this.#meanRttMs = this.#meanRttMs === 0 ? durationMs : this.#meanRttMs + rttWeight * (durationMs - this.#meanRttMs);
  }

  /** Takes in that the caller's quota is used up. */
  noteQuota(): void {
    this.#quotaAtMs = this.#clock.monotonicMs();
  }

  /** Whether none may be sent, because it would be charged to a quota that is used up. */
  get arePaused(): boolean {
    return this.#clock.monotonicMs() - this.#quotaAtMs < quotaPauseMs;
  }

  /** How long to wait for an answer before the second request is sent. */
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
  /** The second is sent where the first has neither answer nor error after so long. */
  readonly delayMs: number;
  /** Gives the second; undefined where none may be sent. */
  readonly second: () => Leg<T> | undefined;
  /** Called where two were on their way and one was answered: which of them is lost. */
  readonly onLost?: (isFirst: boolean) => void;
}

/**
 * Runs one request, or two. The first success counts, and the other request is cancelled and never read. An error of
 * one waits for the other.
 *
 * @throws what the first request threw, where both fail.
 */
export async function firstOfTwo<T>({ clock, signal, first, delayMs, second, onLost }: Legs<T>): Promise<T> {
  const abort = new LinkedAbort([signal]);
  let callOff: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      let underWayCount = 0;
      let isOver = false;
      let error: unknown;
      const run = (leg: Leg<T>): void => {
        underWayCount++;
        const onAnswer = (answer: T): void => {
          underWayCount--;
          if (!isOver && underWayCount > 0) onLost?.(leg !== first);
          // The other answer is never read.
          isOver = true;
          resolve(answer);
        };
        leg(abort.signal).then(onAnswer, (cause: unknown) => {
          if (leg === first) error = cause;
          if (--underWayCount === 0) reject(error);
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
