/// <reference lib="esnext.disposable" preserve="true" />
import { callTimeoutMs } from "./client-options.ts";
import { type Clock, systemClock } from "./clock.ts";
import { checkCount, countMax as countLimit, closedError, SnowlaneError } from "./errors.ts";
import { checkOptionKinds, kinds, type OptionKinds } from "./known-options.ts";
import type { ClientObserver } from "./observer.ts";
import { OutagePolicy } from "./outage-policy.ts";
import { Refiller } from "./refiller.ts";
import { RefillPolicy } from "./refill-policy.ts";
import { type CallOptions, checkCallOptions, type RunSource } from "./run-source.ts";
import { type ClientLogger, States } from "./states.ts";
import { Stock } from "./stock.ts";
import { Waiters } from "./waiters.ts";

/** Options of a buffer. */
export interface PrefetchOptions {
  /**
   * The maximum age of an ID's reservation when the ID is handed out: 10 to 60,000 ms. Default: 5,000. With `outageMs`:
   * `outageMs` to 3,600,000 ms. Default: twice `outageMs`, and at least `outageMs` + 30,000.
   */
  readonly maxAgeMs?: number;
  /**
   * Keeps a reserve of IDs that lasts this long without any server, at the rate of the last minute: 1,000 to 1,800,000
   * ms. Default: off. While servers answer, IDs are as fresh as without it; about 2.2 are reserved for each one used.
   */
  readonly outageMs?: number;
  /**
   * The most IDs that `outageMs` aims at, not counting those that will soon be too old: 1 to 1,000,000,000. Default:
   * 10,000,000.
   */
  readonly stockMax?: number;
  /** The fewest IDs of one reservation: 1 to `countMax`. Default: 8. */
  readonly countMin?: number;
  /** The most IDs of one reservation: `countMin` to 1,048,576. Default: 65,536. */
  readonly countMax?: number;
  /** How long a caller without a deadline may wait for stock, above 0. Default: 5,000 ms. */
  readonly timeoutMs?: number;
  /** Functions that the buffer calls to report what it does. Default: that of the client. */
  readonly observer?: ClientObserver;
  /** Gets a line when refills begin to fail, and when they work again. Default: that of the client. */
  readonly logger?: ClientLogger;
  /** Replaced in tests. Default: that of the client. */
  readonly clock?: Clock;
  /** From 0 to below 1; for the jitter of back-off. Default: Math.random. */
  readonly random?: () => number;
}

/** What the options of a buffer must be. */
export const prefetchOptionKinds: OptionKinds<PrefetchOptions> = {
  maxAgeMs: kinds.checkedElsewhere,
  outageMs: kinds.checkedElsewhere,
  stockMax: kinds.checkedElsewhere,
  countMin: kinds.checkedElsewhere,
  countMax: kinds.checkedElsewhere,
  timeoutMs: kinds.checkedElsewhere,
  observer: kinds.observer,
  logger: kinds.logger,
  clock: kinds.clock,
  random: kinds.random,
};

/** Counters of a buffer. `reserved` = `handedOut` + `dropped` + `stock`, always. */
export interface BufferStats {
  readonly handedOut: number;
  readonly reserved: number;
  /** IDs that grew too old, or were dropped by `close`. */
  readonly dropped: number;
  readonly refills: number;
  readonly refillFailures: number;
  /** Calls that found no stock. */
  readonly waits: number;
  /** IDs at hand. */
  readonly stock: number;
  readonly ratePerSecond: number;
  readonly meanRttMs: number;
  /** How long the stock lasts at the measured rate, before it is used up or too old. */
  readonly outageLeftMs: number;
}

/**
 * Hands out IDs from memory and reserves more in the background, before they run out. An ID goes to at most one caller.
 *
 * docs/internals/client-contract.md has the rules. Each worker thread needs its own; a `structuredClone` of one cannot
 * hand out IDs.
 */
export class PrefetchBuffer {
  readonly #stock: Stock;
  readonly #refiller: Refiller;
  readonly #waiters: Waiters;
  readonly #policy: RefillPolicy;
  readonly #outage: OutagePolicy | undefined;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onClose: () => void;
  #waitCount = 0;

  /**
   * The usual way to make one is a client's `prefetch`.
   *
   * @param onClose - Called once the buffer is closed.
   * @throws RangeError, if an option is wrong.
   */
  constructor(source: RunSource, options: PrefetchOptions = {}, onClose = (): void => {}) {
    checkOptionKinds(options, prefetchOptionKinds);
    const { outageMs, countMin = 8, countMax = 65_536, timeoutMs = 5_000, stockMax = 10_000_000 } = options;
    const maxAgeMs = checkAges(options);
    checkRange("stockMax", stockMax, 1, 1_000_000_000);
    checkRange("countMax", countMax, 1, countLimit);
    checkRange("countMin", countMin, 1, countMax);
    if (!Number.isInteger(countMin + countMax))
      throw new RangeError(`countMin is ${countMin} and countMax ${countMax}: they must be whole numbers.`);
    checkRange("timeoutMs", timeoutMs, 1, 2 ** 31 - 1);
    const { clock = systemClock, random = Math.random, observer = {} } = options;
    const policy = new RefillPolicy({ countMin, countMax });
    const outage =
      outageMs === undefined ? undefined : new OutagePolicy({ outageMs, maxAgeMs, stockMax, countMin, countMax });
    const stock = new Stock({
      policy,
      clock,
      observer,
      onLowWater: () => this.#refiller.ask(),
      onTooOld: (answer) => this.#refiller.expire(answer),
    });
    const waiters = new Waiters(clock, observer);
    this.#stock = stock;
    const states = new States(clock, observer, options.logger);
    const parts = { policy, outage, stock, waiters };
    this.#refiller = new Refiller({ source, clock, random, observer, states, maxAgeMs, ...parts });
    this.#waiters = waiters;
    this.#policy = policy;
    this.#outage = outage;
    this.#maxAgeMs = maxAgeMs;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onClose = onClose;
  }

  /**
   * Hands out one ID: at once if one is in stock, otherwise as a promise.
   *
   * An `await` costs ten times as much as the ID, so hot loops should test `typeof id === "bigint"` first. A loop that
   * never yields keeps the buffer from refilling.
   *
   * @throws SnowlaneError (as a rejection) CLIENT_CLOSED, CANCELLED; at the deadline the last failure of a reservation,
   * or DEADLINE_EXCEEDED.
   */
  nextId(options?: CallOptions): bigint | Promise<bigint> {
    checkCallOptions(options);
    const id = this.#stock.claim();
    if (id !== undefined) return id;
    return this.#wait("ID", options?.timeoutMs ?? this.#timeoutMs, options?.signal) as Promise<bigint>;
  }

  /**
   * Waits until there are IDs in stock, and takes none. A service that calls it before its first request has then
   * already connected and reserved.
   *
   * @throws SnowlaneError, as {@link nextId} does.
   */
  async ready(options?: CallOptions): Promise<void> {
    checkCallOptions(options);
    if (this.#stock.count > 0) return;
    await this.#wait("stock", options?.timeoutMs ?? this.#timeoutMs, options?.signal);
  }

  /**
   * Hands out one ID from stock and never waits. When it throws, a refill is on its way.
   *
   * @throws SnowlaneError STOCK_EMPTY, CLIENT_CLOSED.
   */
  nextIdSync(): bigint {
    const id = this.#stock.claim();
    if (id !== undefined) return id;
    if (this.#refiller.isClosed) throw closedError("buffer");
    this.#refiller.ask();
    throw new SnowlaneError("STOCK_EMPTY", "The buffer is dry.", {
      code: "UNAVAILABLE",
      cause: this.#refiller.lastFailure,
    });
  }

  /**
   * Hands out `count` IDs, claimed in blocks; each block ascends. IDs that it had claimed when it fails are a gap.
   *
   * @param count - 1 to 1,048,576, inclusive.
   * @throws SnowlaneError COUNT_OUT_OF_RANGE, and those of {@link nextId}.
   */
  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCallOptions(options);
    checkCount(count);
    const deadlineMs = this.#clock.monotonicMs() + (options?.timeoutMs ?? this.#timeoutMs);
    const ids: bigint[] = [];
    while (ids.length < count) {
      if (this.#stock.claimBlock(ids, count)) continue;
      ids.push((await this.#wait("ID", deadlineMs - this.#clock.monotonicMs(), options?.signal)) as bigint);
    }
    return ids;
  }

  /** A snapshot of the counters. */
  stats(): BufferStats {
    const stock = this.#stock.count;
    return {
      handedOut: this.#stock.handedOutCount,
      reserved: this.#stock.reservedCount,
      dropped: this.#stock.droppedCount,
      refills: this.#refiller.refillCount,
      refillFailures: this.#refiller.failureCount,
      waits: this.#waitCount,
      stock,
      ratePerSecond: this.#policy.ratePerSecond,
      meanRttMs: this.#policy.meanRttMs,
      outageLeftMs: this.#outageLeftMs(stock),
    };
  }

  /** Drops the stock; waiting callers get CLIENT_CLOSED. Closing again does nothing. */
  close(): void {
    if (this.#refiller.isClosed) return;
    this.#refiller.close();
    this.#stock.dropAll();
    this.#waiters.rejectAll(closedError("buffer"));
    this.#onClose();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #outageLeftMs(stockCount: number): number {
    if (stockCount === 0) return 0;
    const ratePerSecond = this.#outage?.ratePerSecond ?? this.#policy.ratePerSecond;
    return this.#stock.lastsMs(ratePerSecond, this.#maxAgeMs);
  }

  async #wait(wants: "ID" | "stock", timeoutMs: number, signal: AbortSignal | undefined): Promise<bigint | undefined> {
    const limitMs = callTimeoutMs(timeoutMs);
    if (this.#refiller.isClosed) throw closedError("buffer");
    this.#waitCount++;
    const errorAtDeadline = (): SnowlaneError => this.#errorAtDeadline(limitMs);
    const waiting = this.#waiters.wait({ wants, timeoutMs: limitMs, signal, errorAtDeadline });
    this.#refiller.ask();
    return waiting;
  }

  #errorAtDeadline(timeoutMs: number): SnowlaneError {
    const { lastFailure } = this.#refiller;
    if (lastFailure !== undefined) return lastFailure;
    const message = `No ID came within ${Math.round(timeoutMs)} ms.`;
    return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
  }
}

/** Checks `outageMs` and `maxAgeMs`, and returns the latter. */
function checkAges({ outageMs, maxAgeMs }: PrefetchOptions): number {
  if (outageMs === undefined) {
    checkRange("maxAgeMs", maxAgeMs ?? 5_000, 10, 60_000);
    return maxAgeMs ?? 5_000;
  }
  checkRange("outageMs", outageMs, 1_000, 1_800_000);
  const ageMs = maxAgeMs ?? Math.max(2 * outageMs, outageMs + 30_000);
  checkRange("maxAgeMs", ageMs, outageMs, 3_600_000);
  return ageMs;
}

function checkRange(name: string, value: number, min: number, max: number): void {
  if (Number.isFinite(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} is ${value}: it must be between ${min} and ${max}.`);
}
