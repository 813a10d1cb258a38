/// <reference lib="esnext.disposable" preserve="true" />
import { Answer } from "./answer.ts";
import { backoffMs } from "./backoff.ts";
import { callTimeoutMs } from "./client-options.ts";
import { type Clock, systemClock } from "./clock.ts";
import { checkCount, closedError, SnowlaneError, type StatusCode } from "./errors.ts";
import { notify, type Observer } from "./observer.ts";
import { RefillPolicy } from "./refill-policy.ts";
import { type CallOptions, countOfAnswer, type IdRun, type RunSource } from "./run-source.ts";
import { Waiters } from "./waiters.ts";

/** What a buffer may be told. */
export interface PrefetchOptions {
  /** The oldest that the reservation of an ID may be when it is handed out: 10 to 60,000 ms. Default: 5,000. */
  readonly maxAgeMs?: number;
  /** Bounds of one reservation: 1 to 1,048,576 IDs. Defaults: 32 and 65,536. */
  readonly countMin?: number;
  readonly countMax?: number;
  /** How long a caller may wait for stock who gave no deadline, above 0. Default: 5,000 ms. */
  readonly timeoutMs?: number;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** From 0 to below 1; for the jitter of back-off. Default: Math.random. */
  readonly random?: () => number;
}

/** Counters of a buffer. `reservedCount` = `handedOutCount` + `droppedCount` + `stockCount`, always. */
export interface BufferStats {
  readonly handedOutCount: number;
  readonly reservedCount: number;
  /** Grew too old, or were dropped by `close`. */
  readonly droppedCount: number;
  readonly refillCount: number;
  readonly refillFailureCount: number;
  /** Callers who found no stock. */
  readonly waitCount: number;
  /** IDs at hand. */
  readonly stockCount: number;
  readonly ratePerSecond: number;
  readonly meanRttMs: number;
}

/** One call may ask for so many IDs. */
const nextIdsMax = 1_048_576;

/** Waiting does not cure these. */
const incurable: ReadonlySet<StatusCode> = new Set([
  "INVALID_ARGUMENT",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
]);

/**
 * Hands out IDs from memory and reserves more behind the scenes, before they run out. An ID goes to at most one caller.
 *
 * clients/README.md has the rules. Each worker thread makes its own; `structuredClone` of one gives nothing that hands
 * out IDs.
 */
export class PrefetchBuffer {
  readonly #source: RunSource;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer: Observer;
  readonly #policy: RefillPolicy;
  readonly #waiters: Waiters;
  readonly #maxAgeMs: number;
  readonly #timeoutMs: number;
  readonly #onClose: () => void;
  readonly #abort = new AbortController();

  // The run in place. `#next` is the only word that changes for an ID: everything below it has been handed out.
  #firstId = 0n;
  #stride = 1n;
  #next = 0;
  /** Up to here nothing but the claim is to be done: the low-water mark, or the end. */
  #fastEnd = 0;
  #end = 0;

  #answer: Answer | undefined;
  #spare: Answer | undefined;
  #isRefilling = false;
  /** Set while the buffer holds back after a failure. */
  #cancelRetry: (() => void) | undefined;
  #failuresInRow = 0;
  #lastFailure: SnowlaneError | undefined;
  #measuredAtMs: number;
  #measuredCount = 0;

  /** Handed out of runs that are no longer in place. */
  #settledCount = 0;
  #reservedCount = 0;
  #droppedCount = 0;
  #refillCount = 0;
  #refillFailureCount = 0;
  #waitCount = 0;

  /**
   * `prefetch` of a client is the usual way to one.
   *
   * @param onClose - Called once it is closed, for whoever keeps it.
   * @throws RangeError, if an option is wrong.
   */
  constructor(source: RunSource, options: PrefetchOptions = {}, onClose = (): void => {}) {
    const { maxAgeMs = 5_000, countMin = 32, countMax = 65_536, timeoutMs = 5_000 } = options;
    checkRange("maxAgeMs", maxAgeMs, 10, 60_000);
    checkRange("countMax", countMax, 1, nextIdsMax);
    checkRange("countMin", countMin, 1, countMax);
    if (!Number.isInteger(countMin + countMax))
      throw new RangeError(`countMin is ${countMin} and countMax ${countMax}: they must be whole numbers.`);
    checkRange("timeoutMs", timeoutMs, 1, 2 ** 31 - 1);
    this.#source = source;
    this.#onClose = onClose;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#observer = options.observer ?? {};
    this.#policy = new RefillPolicy({ countMin, countMax });
    this.#waiters = new Waiters(this.#clock, this.#observer);
    this.#maxAgeMs = maxAgeMs;
    this.#timeoutMs = timeoutMs;
    this.#measuredAtMs = this.#clock.monotonicMs();
  }

  /**
   * Hands out one ID: at once from stock, else a promise of one.
   *
   * `await` costs ten times what the ID costs, so test `typeof id === "bigint"` in hot loops. A loop that never yields
   * is never refilled.
   *
   * @throws SnowlaneError (as a rejection) CLIENT_CLOSED, CANCELLED; at the deadline the last failure of a reservation,
   * or DEADLINE_EXCEEDED.
   */
  nextId(options?: CallOptions): bigint | Promise<bigint> {
    const index = this.#next;
    if (index < this.#fastEnd) {
      this.#next = index + 1;
      return this.#firstId + BigInt(index) * this.#stride;
    }
    return this.#take() ?? this.#wait(options?.timeoutMs ?? this.#timeoutMs, options?.signal);
  }

  /**
   * Hands out one ID from stock and never waits. When it throws, a refill is on its way.
   *
   * @throws SnowlaneError STOCK_EMPTY, CLIENT_CLOSED.
   */
  nextIdSync(): bigint {
    const id = this.#take();
    if (id !== undefined) return id;
    if (this.#abort.signal.aborted) throw closedError("buffer");
    this.#ask();
    throw new SnowlaneError("STOCK_EMPTY", "The buffer is dry.", { code: "UNAVAILABLE", cause: this.#lastFailure });
  }

  /**
   * Hands out `count` IDs, claimed in blocks; each block ascends. What it had claimed when it fails is a gap.
   *
   * @param count - 1 to 1,048,576, inclusive.
   * @throws SnowlaneError COUNT_OUT_OF_RANGE, and those of {@link nextId}.
   */
  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCount(count, nextIdsMax);
    const deadlineMs = this.#clock.monotonicMs() + (options?.timeoutMs ?? this.#timeoutMs);
    const ids: bigint[] = [];
    while (ids.length < count) {
      if (this.#takeBlock(ids, count)) continue;
      ids.push(await this.#wait(deadlineMs - this.#clock.monotonicMs(), options?.signal));
    }
    return ids;
  }

  /** A snapshot of the counters. */
  stats(): BufferStats {
    return {
      handedOutCount: this.#handedOutCount,
      reservedCount: this.#reservedCount,
      droppedCount: this.#droppedCount,
      refillCount: this.#refillCount,
      refillFailureCount: this.#refillFailureCount,
      waitCount: this.#waitCount,
      stockCount: this.#end - this.#next + (this.#answer?.leftCount ?? 0) + (this.#spare?.leftCount ?? 0),
      ratePerSecond: this.#policy.ratePerSecond,
      meanRttMs: this.#policy.meanRttMs,
    };
  }

  /** Drops the stock; whoever waits gets CLIENT_CLOSED. Closing again does nothing. */
  close(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.#cancelRetry?.();
    this.#drop(this.#answer);
    this.#drop(this.#spare);
    this.#waiters.rejectAll(closedError("buffer"));
    this.#onClose();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get #handedOutCount(): number {
    return this.#settledCount + this.#next;
  }

  /** Claims one ID of the stock, if there is one. */
  #take(): bigint | undefined {
    while (this.#next >= this.#end) if (!this.#placeNextRun()) return undefined;
    const index = this.#next++;
    if (index >= this.#fastEnd) this.#meetLowWater();
    return this.#firstId + BigInt(index) * this.#stride;
  }

  /** Claims what is left of the run in place, up to `count` IDs in `ids`; false if there is no stock. */
  #takeBlock(ids: bigint[], count: number): boolean {
    while (this.#next >= this.#end) if (!this.#placeNextRun()) return false;
    const start = this.#next;
    this.#next = Math.min(this.#end, start + count - ids.length);
    if (this.#next > this.#fastEnd) this.#meetLowWater();
    let id = this.#firstId + BigInt(start) * this.#stride;
    for (let index = start; index < this.#next; index++, id += this.#stride) ids.push(id);
    return true;
  }

  #meetLowWater(): void {
    this.#fastEnd = this.#end;
    if (this.#answer === undefined || this.#answer.hasAsked) return;
    this.#answer.hasAsked = true;
    this.#ask();
  }

  /** Puts the next run of the stock in the place of one that is used up. */
  #placeNextRun(): boolean {
    let run = this.#answer?.takeRun();
    if (run === undefined) {
      this.#answer?.retire();
      this.#answer = this.#spare;
      this.#spare = undefined;
      run = this.#answer?.takeRun();
    }
    this.#closeRun();
    if (run === undefined || this.#answer === undefined) return false;
    const answer = this.#answer;
    answer.isTouched = true;
    const aboveMark = run.count + answer.leftCount - this.#policy.lowWater(answer.count);
    this.#firstId = run.firstId;
    this.#stride = run.stride;
    this.#end = run.count;
    this.#fastEnd = answer.hasAsked ? run.count : Math.min(run.count, Math.max(0, aboveMark));
    return true;
  }

  /** Ends the run in place, and tells how many of its IDs nobody will get. Doing it again does nothing. */
  #closeRun(): number {
    const leftCount = this.#end - this.#next;
    this.#settledCount += this.#next;
    this.#next = 0;
    this.#fastEnd = 0;
    this.#end = 0;
    return leftCount;
  }

  #drop(answer: Answer | undefined): void {
    if (answer === undefined) return;
    answer.retire();
    const isInUse = answer === this.#answer;
    const droppedCount = answer.leftCount + (isInUse ? this.#closeRun() : 0);
    if (isInUse) this.#answer = undefined;
    else this.#spare = undefined;
    this.#droppedCount += droppedCount;
    if (droppedCount > 0) notify(() => this.#observer.onExpire?.({ droppedCount }));
  }

  #expire(answer: Answer): void {
    this.#drop(answer);
    // Where nothing of it was claimed nobody needs the next one: the first caller wakes the buffer.
    if (answer.isTouched && this.#spare === undefined) this.#ask();
    else this.#measure();
  }

  async #wait(timeoutMs: number, signal: AbortSignal | undefined): Promise<bigint> {
    const limitMs = callTimeoutMs(timeoutMs);
    if (this.#abort.signal.aborted) throw closedError("buffer");
    this.#waitCount++;
    const waiting = this.#waiters.wait(limitMs, signal, () => this.#errorAtDeadline(limitMs));
    this.#ask();
    return waiting;
  }

  #errorAtDeadline(timeoutMs: number): SnowlaneError {
    if (this.#lastFailure !== undefined) return this.#lastFailure;
    const message = `No ID came within ${Math.round(timeoutMs)} ms.`;
    return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
  }

  /** Asks for the next answer, unless one is on its way or at hand, or a failure is too fresh. */
  #ask(): void {
    if (this.#isRefilling || this.#spare !== undefined || this.#cancelRetry !== undefined) return;
    if (!this.#abort.signal.aborted) void this.#refill();
  }

  async #refill(): Promise<void> {
    this.#isRefilling = true;
    this.#measure();
    const askedCount = this.#policy.reserveCount;
    const ratePerSecond = this.#policy.ratePerSecond;
    const askedMs = this.#clock.monotonicMs();
    let outcome: readonly IdRun[] | SnowlaneError;
    try {
      outcome = await this.#source.reserve(askedCount, { signal: this.#abort.signal });
    } catch (error) {
      outcome = SnowlaneError.from(error);
    }
    this.#isRefilling = false;
    if (this.#abort.signal.aborted) return;
    const ageMs = this.#clock.monotonicMs() - askedMs;
    const receivedCount = outcome instanceof SnowlaneError ? outcome : this.#accept(outcome, { askedCount, ageMs });
    const event = { askedCount, durationMs: ageMs, ratePerSecond };
    if (receivedCount instanceof SnowlaneError) {
      const { reason } = receivedCount;
      this.#fail(receivedCount);
      notify(() => this.#observer.onRefill?.({ ...event, receivedCount: 0, reason }));
    } else notify(() => this.#observer.onRefill?.({ ...event, receivedCount }));
  }

  /**
   * Takes an answer into stock, or drops it whole.
   *
   * @param ageMs - From before the first attempt to get it: no ID of it can be older.
   */
  #accept(
    runs: readonly IdRun[],
    { askedCount, ageMs }: { readonly askedCount: number; readonly ageMs: number },
  ): number | SnowlaneError {
    const leftMs = this.#maxAgeMs - ageMs;
    if (leftMs <= 0) {
      const message = `A reservation took longer than the ${this.#maxAgeMs} ms for which its IDs may be used.`;
      return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
    }
    let count: number;
    try {
      count = countOfAnswer(runs, askedCount);
    } catch (error) {
      return SnowlaneError.from(error);
    }
    const answer: Answer = new Answer(
      runs,
      count,
      this.#clock.schedule(leftMs, () => this.#expire(answer), "lets it end"),
    );
    this.#refillCount++;
    this.#reservedCount += count;
    this.#failuresInRow = 0;
    this.#lastFailure = undefined;
    this.#policy.noteRoundTrip(ageMs);
    this.#spare = answer;
    this.#waiters.serve(() => this.#take());
    return count;
  }

  #fail(error: SnowlaneError): void {
    this.#refillFailureCount++;
    this.#failuresInRow++;
    this.#lastFailure = error;
    if (incurable.has(error.code)) this.#waiters.rejectAll(error);
    const delayMs = backoffMs(this.#failuresInRow, error.retryAfterMs, this.#random);
    this.#cancelRetry = this.#clock.schedule(delayMs, () => this.#retry(), "lets it end");
  }

  #retry(): void {
    this.#cancelRetry = undefined;
    if (this.#waiters.count > 0 || this.#answer?.hasAsked) this.#ask();
  }

  #measure(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#policy.noteHandedOut(this.#handedOutCount - this.#measuredCount, nowMs - this.#measuredAtMs);
    this.#measuredAtMs = nowMs;
    this.#measuredCount = this.#handedOutCount;
  }
}

function checkRange(name: string, value: number, min: number, max: number): void {
  if (Number.isFinite(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} is ${value}: it must lie between ${min} and ${max}.`);
}
