import type { Clock, Timers } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { type DrawOutcome, type Priority, WaitQueue, waitersMax, type WaitRequest } from "../queue/wait-queue.ts";
import { createPeriodClock, type PeriodClock } from "./period.ts";
import { SegmentBuffer, type ValueRun } from "./segment-buffer.ts";
import type { SequenceEvent } from "./sequence-database.ts";
import {
  callerError,
  closedError,
  disabledError,
  exhaustedError,
  isOfDatabase,
  shuttingDown,
  unwritableError,
} from "./sequence-error.ts";
import { compareEpochs, endCountOf, type StoredSequence } from "./sequence.ts";
import type { TakeAnswer, ValueDatabase } from "./value-database.ts";
import { createValueWriter, templateProblem, type ValueWriter } from "./value-template.ts";

/** The request of a caller of {@link ValueSource.reserve}. */
export interface ReserveValues extends WaitRequest {
  /** The most values that are wanted: at least 1. */
  readonly count: number;
  /** Until when to wait, on the monotonic clock; absent = only the source's own limit (waitMax) applies. */
  readonly deadlineMs?: number | undefined;
}

/** Values that were handed out. They belong to the caller, whether it uses them or not. */
export interface ReservedValues {
  readonly runs: readonly ValueRun[];
  /** Values in all runs: at least 1, at most what was asked for. */
  readonly count: number;
  /** The period of all of them; empty if there is none. */
  readonly periodKey: string;
}

/** Counts since the process started; each only grows. */
export interface SequenceCounters {
  /** Values handed out. */
  issued: number;
  /** Takes: those that gave values, those that the database refused, and those without an answer. */
  taken: number;
  refused: number;
  failed: number;
}

/** The objects that all sources of a process share: the database, its clocks, and the counts of all values. */
export interface ValueSourceParts {
  /** The counters of all sources together. */
  readonly counters: SequenceCounters;
  /** The database that values are taken from, and unused ones are given back to. */
  readonly database: ValueDatabase;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The longest that a call waits for values, in milliseconds. */
  readonly waitMaxMs: number;
  /** Called with each take without an answer, whose range is never used, for logs and metrics. */
  readonly onEvent: (event: SequenceEvent) => void;
}

/** The callers that wait for values of one sequence. */
interface Waiting {
  readonly queue: WaitQueue<ReserveValues, ReservedValues>;
  readonly requests: Set<ReserveValues>;
  /** How many values they have asked for in all. */
  count: number;
}

/** The stock of one period. */
interface Stock {
  readonly key: string;
  readonly buffer: SegmentBuffer;
}

const retryMinMs = 50;
/** Half of the default wait of a caller: even a single caller, late in an outage, waits for two takes. */
const retryMaxMs = 500;
/** How long a sequence that has no value left is not asked again. */
const exhaustedForMs = 1_000;

/**
 * Hands out the values of one sequence: from its stock in memory if there is any, with one take at a time, to callers
 * in turn.
 */
export class ValueSource {
  /** Writes a value as text; undefined if the sequence has no template. */
  readonly writeText: ValueWriter | undefined;
  readonly #parts: ValueSourceParts;
  readonly #onTake: (name: string) => void;
  readonly #periodOf: PeriodClock;
  #stored: StoredSequence;
  #stock: Stock;
  #askAgainMs: number;
  /**
   * Made for the first caller that waits, and dropped after the last, because most sequences in memory have no waiting
   * callers.
   */
  #waiting: Waiting | undefined;
  #taking: Promise<void> | undefined;
  /** Why the last take gave nothing, and until when the database is not asked again, on the monotonic clock. */
  #failure: { readonly error: IdError; readonly untilMs: number } | undefined;
  #failures = 0;
  #cancelRetry: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param onTake - Called with each take that was answered.
   * @param periodKey - The period of all values; absent = the present one.
   */
  constructor(stored: StoredSequence, parts: ValueSourceParts, onTake: (name: string) => void, periodKey?: string) {
    const { textTemplate } = stored.definition;
    this.#parts = parts;
    this.#onTake = onTake;
    this.#stored = stored;
    // The period is given, so no clock chooses it.
    const fixed = { key: periodKey ?? "", askAgainMs: Number.POSITIVE_INFINITY };
    this.#periodOf = periodKey === undefined ? createPeriodClock(stored.definition) : () => fixed;
    this.writeText = textTemplate === "" ? undefined : createValueWriter(textTemplate, stored.definition);
    const { key, askAgainMs } = this.#periodOf(parts.clock.nowMs());
    this.#askAgainMs = askAgainMs;
    this.#stock = { key, buffer: new SegmentBuffer(stored.definition) };
    this.#noteYears();
    parts.database.remember({ name: stored.definition.name, periodKey: key });
  }

  /** Whether its values have neither text nor period. */
  get isPlain(): boolean {
    return this.writeText === undefined && this.#askAgainMs === Number.POSITIVE_INFINITY;
  }

  get stored(): StoredSequence {
    return this.#stored;
  }

  /** The present period of its values; empty if it has no periods. */
  get periodKey(): string {
    return this.#stock.key;
  }

  /** How long its values in memory last; infinite if no values are used. For monitoring. */
  get stockMs(): number {
    return this.#stock.buffer.lastsMs(this.#parts.clock.monotonicMs());
  }

  /** Whether it is not in use: no caller waits, and no take is on its way. */
  get isIdle(): boolean {
    return this.#waitingSize === 0 && this.#taking === undefined;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Hands out one value if that is possible without waiting: the hot path. undefined = call {@link reserve}, which
   * waits or throws.
   */
  tryNext(): bigint | undefined {
    if (this.#stored.definition.disabled || this.#isTaken("unary") || this.isClosed) return undefined;
    if (this.#askAgainMs !== Number.POSITIVE_INFINITY) this.#turnPeriod();
    const { buffer } = this.#stock;
    const value = buffer.tryNext();
    if (value !== undefined) this.#parts.counters.issued += 1;
    if (buffer.isDue) this.#consider();
    return value;
  }

  /**
   * Hands out 1 to `count` values: as many as are available without waiting. Waits only if not even one is, in turn
   * with all others, until the deadline, the signal, or waitMax, whichever is first.
   *
   * @throws IdError (also as rejection) SEQUENCE_DISABLED, VALUES_EXHAUSTED, STORE_WENT_BACK, STORE_UNAVAILABLE,
   * BURST_EXCEEDED, SHUTTING_DOWN.
   */
  reserve(request: ReserveValues): ReservedValues | Promise<ReservedValues> {
    if (this.isClosed) throw shuttingDown();
    if (!this.#isTaken(request.priority)) {
      const outcome = this.#draw(request);
      if (outcome.kind === "drawn") {
        if (this.#stock.buffer.isDue) this.#consider();
        return outcome.result;
      }
    }
    return this.#wait(request);
  }

  /** Drops the values in memory, and those of a take that is on its way. */
  empty(): void {
    if (!this.isClosed) this.#replaceStock(this.#stock.key);
  }

  /** Updates the definition to what the database has now. */
  refresh(stored: StoredSequence): void {
    const before = this.#stored;
    const age = compareEpochs(before, stored);
    if (age === "older") return;
    this.#stored = stored;
    // No value that an operator forbade or left out may be given from memory. An older release does not change the
    // epoch, so `disabled` is compared as well.
    if (age === "changed" || (stored.definition.disabled && !before.definition.disabled)) this.empty();
    this.#stock.buffer.definition = stored.definition;
    if (endCountOf(before.definition) !== endCountOf(stored.definition)) this.#failure = undefined;
    if (this.#waitingSize === 0) return;
    this.#waiting?.queue.serve();
    this.#consider();
  }

  /**
   * Closes the source: nothing is handed out any more, waiting callers get SHUTTING_DOWN, and unused values are given
   * back.
   *
   * @param timeoutMs - How long to wait for a take that is on its way.
   */
  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#cancelRetry?.();
    this.#waiting?.queue.rejectAll(shuttingDown());
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.timers.after(timeoutMs, resolve);
    await Promise.race([this.#taking, late]);
    cancel();
    await this.#giveBack(this.#stock);
  }

  async #giveBack({ key: periodKey, buffer }: Stock): Promise<void> {
    const remainders = buffer.close();
    const { sequenceId, definition } = this.#stored;
    const key = { name: definition.name, periodKey };
    if (this.isClosed || periodKey !== this.#stock.key) this.#parts.database.forget(key);
    await Promise.all(remainders.map((rest) => this.#parts.database.giveBack(key, sequenceId, rest)));
  }

  /** Changes to the present period if that is another one, even an earlier one: docs/adr/0228. */
  #turnPeriod(): void {
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs < this.#askAgainMs && this.#askAgainMs - nowMs <= 60_000) return;
    const { key, askAgainMs } = this.#periodOf(nowMs);
    this.#askAgainMs = askAgainMs;
    if (key === this.#stock.key) return;
    this.#failure = undefined;
    this.#replaceStock(key);
    this.#noteYears();
  }

  /** Notes the error of a period whose year the template cannot distinguish from others. */
  #noteYears(): void {
    const { definition } = this.#stored;
    const problem = templateProblem(definition.textTemplate, definition, this.#stock.key);
    if (problem === undefined) return;
    this.#failure = {
      error: unwritableError(this.#stored, this.#stock.key, problem),
      untilMs: Number.POSITIVE_INFINITY,
    };
  }

  /** Gives back the values in memory, and begins a period with an empty stock. */
  #replaceStock(key: string): void {
    const past = this.#stock;
    this.#stock = { key, buffer: new SegmentBuffer(this.#stored.definition) };
    this.#parts.database.remember({ name: this.#stored.definition.name, periodKey: key });
    void this.#giveBack(past);
  }

  #draw(request: ReserveValues): DrawOutcome<ReservedValues> {
    const { count } = request;
    if (this.#stored.definition.disabled) throw disabledError(this.#stored);
    if (this.#askAgainMs !== Number.POSITIVE_INFINITY) this.#turnPeriod();
    const { key: periodKey, buffer } = this.#stock;
    const runs: ValueRun[] = [];
    let left = count;
    while (left > 0) {
      const run = buffer.takeRun(left);
      if (run === undefined) break;
      left -= run.count;
      runs.push(run);
    }
    if (runs.length > 0) {
      // Removed at once, not when its promise has settled: the next take must not count it again.
      this.#leave(request);
      this.#parts.counters.issued += count - left;
      return { kind: "drawn", result: { runs, count: count - left, periodKey } };
    }
    const lasting = this.#lastingError();
    if (lasting !== undefined) throw lasting;
    return { kind: "refused", untilMs: undefined };
  }

  /** The error of the last take, if waiting does not help against it, for as long as it is fresh. */
  #lastingError(): IdError | undefined {
    const { error, untilMs } = this.#failure ?? {};
    if (error === undefined || error.reason === "STORE_UNAVAILABLE") return undefined;
    return this.#parts.clock.monotonicMs() < (untilMs ?? 0) ? error : undefined;
  }

  #wait(request: ReserveValues): Promise<ReservedValues> {
    const { clock, waitMaxMs } = this.#parts;
    const nowMs = clock.monotonicMs();
    // Each caller waits its full time, even in an outage that began before: takes are still tried, and the next one may
    // succeed.
    const untilMs = Math.min(nowMs + waitMaxMs, request.deadlineMs ?? Number.POSITIVE_INFINITY);
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    if (untilMs <= nowMs || this.#waitingSize >= waitersMax) {
      // A call that does not wait still starts a take, so that the next call notices when the database is back.
      if (this.#waitingSize === 0) this.#consider(1);
      return Promise.reject(this.#lateError());
    }
    this.#waiting ??= this.#newWaiting();
    this.#waiting.requests.add(request);
    this.#waiting.count += request.count;
    const answer = this.#waiting.queue.wait(request, untilMs - nowMs, () => this.#lateError());
    this.#consider();
    const leave = (): void => {
      this.#leave(request);
      if (this.#waitingSize === 0) this.#waiting = undefined;
    };
    answer.then(leave, leave);
    return answer;
  }

  #newWaiting(): Waiting {
    const { timers, clock } = this.#parts;
    const draw = (request: ReserveValues): DrawOutcome<ReservedValues> => this.#draw(request);
    return { queue: new WaitQueue({ timers, nowMs: () => clock.nowMs(), draw }), requests: new Set(), count: 0 };
  }

  /** How many callers wait. */
  get #waitingSize(): number {
    return this.#waiting?.queue.size ?? 0;
  }

  /** Whether a caller of this priority would overtake one that waits. */
  #isTaken(priority: Priority): boolean {
    return this.#waiting !== undefined && this.#waiting.queue.isTaken(priority);
  }

  #leave(request: ReserveValues): void {
    const waiting = this.#waiting;
    if (waiting?.requests.delete(request)) waiting.count -= request.count;
  }

  #lateError(): IdError {
    if (this.isClosed) return shuttingDown();
    if (this.#failure !== undefined) return this.#failure.error;
    const message = "The database of sequences did not give values in time.";
    return new IdError("STORE_UNAVAILABLE", message, { retryAfterMs: this.#parts.waitMaxMs });
  }

  /** Begins a take if one is wanted. @param missing - Values that are wanted although no caller waits. */
  #consider(missing = 0): void {
    if (this.#taking !== undefined || this.isClosed || this.#stored.definition.disabled) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#failure !== undefined && nowMs < this.#failure.untilMs) return this.#considerLater(nowMs);
    const stock = this.#stock;
    const count = stock.buffer.wants(nowMs, Math.max(missing, this.#waiting?.count ?? 0));
    if (count === undefined) return;
    this.#taking = this.#take(stock, count).finally(() => {
      this.#taking = undefined;
      if (this.isClosed) return;
      this.#waiting?.queue.serve();
      if (this.#stock.buffer.isDue || this.#waitingSize > 0) this.#consider();
    });
  }

  #considerLater(nowMs: number): void {
    if (this.#cancelRetry !== undefined || this.#waitingSize === 0) return;
    const delayMs = Math.max(1, (this.#failure?.untilMs ?? nowMs) - nowMs);
    this.#cancelRetry = this.#parts.timers.after(delayMs, () => {
      this.#cancelRetry = undefined;
      this.#consider();
    });
  }

  async #take(stock: Stock, count: number): Promise<void> {
    const { database, clock, counters, onEvent } = this.#parts;
    const stored = this.#stored;
    const { name } = stored.definition;
    try {
      const answer = await database.take({ name, periodKey: stock.key, stored, count });
      if (answer.kind === "refused") {
        counters.refused += 1;
        this.#onRefused(stock, answer);
      } else {
        counters.taken += 1;
        stock.buffer.arrived(answer.segment, clock.monotonicMs());
        this.#onTake(name);
        this.#failure = undefined;
        this.#failures = 0;
        // The period ended, or the stock had to be dropped, while the take was on its way.
        if (stock !== this.#stock) await this.#giveBack(stock);
      }
    } catch (error) {
      if (!(error instanceof IdError)) throw error;
      counters.failed += 1;
      stock.buffer.failed();
      // Only the first failure of an outage is reported.
      if (isOfDatabase(error) && this.#failures === 0) onEvent({ kind: "range-discarded", name, count, error });
      this.#noteFailure(callerError(error));
    }
  }

  #onRefused(stock: Stock, { why, stored }: TakeAnswer & { readonly kind: "refused" }): void {
    stock.buffer.failed();
    this.refresh(stored);
    if (why !== "exhausted" && why !== "closed") return;
    const error = why === "closed" ? closedError(stored, stock.key) : exhaustedError(stored);
    this.#failure = { error, untilMs: this.#parts.clock.monotonicMs() + exhaustedForMs };
  }

  #noteFailure(error: IdError): void {
    const delayMs = Math.min(retryMinMs * 2 ** Math.min(this.#failures, 10), retryMaxMs);
    this.#failures += 1;
    this.#failure = { error, untilMs: this.#parts.clock.monotonicMs() + delayMs };
  }
}
