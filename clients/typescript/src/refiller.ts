import { Answer } from "./answer.ts";
import { backoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { isFirstMistake, SnowlaneError, type StatusCode } from "./errors.ts";
import { Moment } from "./moment.ts";
import { notify, type ClientObserver } from "./observer.ts";
import type { OutagePolicy } from "./outage-policy.ts";
import type { RefillPolicy } from "./refill-policy.ts";
import { countOfAnswer, type IdRun, type RunSource } from "./run-source.ts";
import type { Stock } from "./stock.ts";
import type { Waiters } from "./waiters.ts";

/** Where a refill draws from, whom it works for, and how much it asks for. */
export interface RefillerOptions {
  /** Reserves the IDs. */
  readonly source: RunSource;
  readonly clock: Clock;
  /** From 0 to below 1; for the jitter of back-off. */
  readonly random: () => number;
  /** Called with each refill and each failure. */
  readonly observer: ClientObserver;
  /** Says how much to ask for. */
  readonly policy: RefillPolicy;
  /** Undefined: no stock is kept for an outage. */
  readonly outage: OutagePolicy | undefined;
  /** Takes the answers. */
  readonly stock: Stock;
  /** The callers that found no stock; they are served first. */
  readonly waiters: Waiters;
  /** The oldest that the reservation of an ID may be when it is handed out, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Waiting does not help against these. */
const incurable: ReadonlySet<StatusCode> = new Set([
  "INVALID_ARGUMENT",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
]);

/** A stock for an outage is looked after so often. */
const topUpMs = 1_000;
/** A stock for an outage is in so many answers at most. */
const spareAnswersMax = 4_096;

/** Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed. */
export class Refiller {
  readonly #options: RefillerOptions;
  readonly #abort = new AbortController();
  #isRefilling = false;
  /** Set while the buffer holds back after a failure. */
  #cancelRetry: (() => void) | undefined;
  /** Set while the stock for an outage is looked after. */
  #cancelTopUp: (() => void) | undefined;
  #failuresInRow = 0;
  #lastFailure: SnowlaneError | undefined;
  #refillCount = 0;
  #failureCount = 0;
  #measuredAtMs: number;
  #measuredCount = 0;

  constructor(options: RefillerOptions) {
    this.#options = options;
    this.#measuredAtMs = options.clock.monotonicMs();
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Why the last reservation failed; undefined if it succeeded. */
  get lastFailure(): SnowlaneError | undefined {
    return this.#lastFailure;
  }

  /** Answers that were taken into stock. */
  get refillCount(): number {
    return this.#refillCount;
  }

  /** Reservations that failed, or whose answer was refused or too late. */
  get failureCount(): number {
    return this.#failureCount;
  }

  /** Asks for the next answer, unless one is on its way or at hand, or a failure is too fresh. */
  ask(): void {
    if (!this.#isFree) return;
    if (this.#options.outage !== undefined && this.#cancelTopUp === undefined) this.#scheduleTopUp();
    if (this.#options.stock.spareAnswerCount === 0) void this.#reserve(this.#outageCount(), "short");
  }

  /** Ends the reservation on its way, and makes no other. */
  close(): void {
    this.#abort.abort();
    this.#cancelRetry?.();
    this.#cancelTopUp?.();
  }

  get #isFree(): boolean {
    return !this.#isRefilling && this.#cancelRetry === undefined && !this.isClosed;
  }

  /** IDs that the stock for an outage lacks, as many as are to be asked for at once. */
  #outageCount(): number {
    const { outage, stock } = this.#options;
    if (outage === undefined || stock.spareAnswerCount >= spareAnswersMax) return 0;
    return outage.reserveCount(stock.count, stock.handedOutCount);
  }

  /** @param need - `short`: what is at hand is about to end, so that enough for the next second is asked for. */
  async #reserve(outageCount: number, need: "short" | "top up"): Promise<void> {
    const { source, clock, observer, outage, policy, stock } = this.#options;
    this.#isRefilling = true;
    this.#measure();
    outage?.noteAsked(stock.handedOutCount);
    const count = need === "short" ? Math.max(policy.reserveCount, outageCount) : outageCount;
    const ratePerSecond = policy.ratePerSecond;
    const startedMs = clock.monotonicMs();
    const asked = new Moment(clock);
    let outcome: readonly IdRun[] | SnowlaneError;
    try {
      outcome = await source.reserve(count, { signal: this.#abort.signal });
    } catch (error) {
      outcome = SnowlaneError.from(error);
    }
    this.#isRefilling = false;
    if (this.isClosed) return;
    const durationMs = clock.monotonicMs() - startedMs;
    const received = outcome instanceof SnowlaneError ? outcome : this.#accept(outcome, { count, asked, durationMs });
    const event = { asked: count, durationMs, ratePerSecond };
    if (received instanceof SnowlaneError) {
      const { reason } = received;
      this.#fail(received);
      notify(() => observer.onRefill?.({ ...event, received: 0, reason }));
    } else notify(() => observer.onRefill?.({ ...event, received }));
  }

  /**
   * Takes an answer into stock, or drops it whole. docs/adr/0094 says why its age counts from before the first attempt.
   *
   * @param asked - From before the first attempt to get it: no ID of it can be older.
   */
  #accept(
    runs: readonly IdRun[],
    { count: askedCount, asked, durationMs }: { count: number; asked: Moment; durationMs: number },
  ): number | SnowlaneError {
    const { clock, outage, policy, stock, waiters, maxAgeMs } = this.#options;
    const leftMs = maxAgeMs - asked.elapsedMs();
    if (leftMs <= 0) {
      const message = `A reservation took longer than the ${maxAgeMs} ms for which its IDs may be used.`;
      return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
    }
    let count: number;
    try {
      count = countOfAnswer(runs, askedCount);
    } catch (error) {
      return SnowlaneError.from(error);
    }
    const cancelExpiry = clock.schedule(leftMs, () => this.expire(answer), "lets it end");
    const answer: Answer = new Answer(runs, count, { asked, maxAgeMs, cancelExpiry });
    this.#refillCount++;
    this.#failuresInRow = 0;
    this.#lastFailure = undefined;
    policy.noteRoundTrip(durationMs);
    stock.add(answer);
    waiters.serve(() => stock.claim());
    if (outage !== undefined && stock.count < policy.ratePerSecond) this.#topUp();
    return count;
  }

  /** Drops an answer whose IDs are too old. */
  expire(answer: Answer): void {
    const { stock } = this.#options;
    stock.drop(answer);
    // Where nothing of it was claimed, no caller needs the next one: the first caller wakes the buffer.
    if (answer.isTouched && stock.spareAnswerCount === 0) this.ask();
    else this.#measure();
  }

  #fail(error: SnowlaneError): void {
    const { clock, random, waiters } = this.#options;
    this.#failureCount++;
    this.#failuresInRow++;
    this.#lastFailure = error;
    const isFirst = isFirstMistake(error);
    if (incurable.has(error.code) || isFirst) waiters.rejectAll(error);
    // Before the first answer, each call is to fail within a second.
    const failureCount = isFirst ? Math.min(this.#failuresInRow, 2) : this.#failuresInRow;
    const delayMs = backoffMs(failureCount, error.retryAfterMs, random);
    this.#cancelRetry = clock.schedule(delayMs, () => this.#retry(), "lets it end");
  }

  #retry(): void {
    const { stock, waiters } = this.#options;
    this.#cancelRetry = undefined;
    if (waiters.count > 0 || stock.isLow) this.ask();
  }

  /** Looks after the stock for an outage, once a second while there is stock or a caller waits. */
  #scheduleTopUp(): void {
    const { clock, outage, stock, waiters } = this.#options;
    outage?.note({ atMs: clock.monotonicMs(), handedOutCount: stock.handedOutCount });
    const look = (): void => {
      this.#cancelTopUp = undefined;
      if (stock.count === 0 && waiters.count === 0 && !this.#isRefilling) {
        outage?.forget();
        return;
      }
      this.#scheduleTopUp();
      this.#topUp();
    };
    this.#cancelTopUp = clock.schedule(topUpMs, look, "lets it end");
  }

  #topUp(): void {
    const outageCount = this.#isFree ? this.#outageCount() : 0;
    if (outageCount > 0) void this.#reserve(outageCount, "top up");
  }

  #measure(): void {
    const { clock, policy, stock } = this.#options;
    const nowMs = clock.monotonicMs();
    const handedOutCount = stock.handedOutCount;
    policy.noteHandedOut(handedOutCount - this.#measuredCount, nowMs - this.#measuredAtMs);
    this.#measuredAtMs = nowMs;
    this.#measuredCount = handedOutCount;
  }
}
