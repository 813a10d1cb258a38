import { type Clock, systemTimers, type Timers } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import { TokenBucket } from "./token-bucket.ts";

/** The limits of one caller; undefined means no limit. Each is at least 1. */
export interface Quota {
  /** IDs and values. */
  readonly idsPerSecond: number | undefined;
  readonly callsPerSecond: number | undefined;
  /** Streams that are open at the same time. */
  readonly streamsMax: number | undefined;
}

/** How long a caller whose streams are all in use should wait: it is not known when one ends. */
const streamRetryMs = 1_000;

/**
 * The rest of one caller's quota, which all of its calls share. At most one second's worth is kept.
 *
 * A quota slows callers down before it refuses them, because a refused caller calls again: a reservation gets less, and
 * a stream waits. Only a call that cannot get less gets QUOTA_EXCEEDED, with the time after which it will be served.
 * docs/adr/0136 has the reasons.
 */
export class Allowance {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #timers: Timers;
  #ids: TokenBucket | undefined;
  #calls: TokenBucket | undefined;
  #streamsMax: number | undefined;
  #streamCount = 0;
  #idsCount = 0;
  #refusedCount = 0;

  /** @param name - The name of the caller, for errors. */
  constructor(name: string, clock: Clock, timers: Timers = systemTimers) {
    this.#name = name;
    this.#clock = clock;
    this.#timers = timers;
  }

  /** IDs and values that were handed out. It only grows. */
  get idsCount(): number {
    return this.#idsCount;
  }

  /** Calls that were refused, because of a quota or a missing permission. It only grows. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** The limit of IDs and values; undefined if there is none. */
  get idsPerSecond(): number | undefined {
    return this.#ids?.perSecond;
  }

  /** Counts a call that was refused for a reason other than the quota. */
  noteRefusal(): void {
    this.#refusedCount += 1;
  }

  /** Counts IDs or values that were handed out. */
  noteIds(count: number): void {
    this.#idsCount += count;
  }

  /** Changes the limits. IDs and calls that were taken stay taken. */
  limit({ idsPerSecond, callsPerSecond, streamsMax }: Quota): void {
    this.#ids = this.#limited(this.#ids, idsPerSecond);
    this.#calls = this.#limited(this.#calls, callsPerSecond);
    this.#streamsMax = streamsMax;
  }

  /** Takes one call. @throws IdError QUOTA_EXCEEDED. */
  takeCall(): void {
    const calls = this.#calls;
    if (calls === undefined || calls.takeOne()) return;
    throw this.#callsExceeded(calls);
  }

  /** Checks that a call could be taken, and takes none. @throws IdError QUOTA_EXCEEDED. */
  checkCall(): void {
    const calls = this.#calls;
    if (calls === undefined || calls.waitMs(1) === 0) return;
    throw this.#callsExceeded(calls);
  }

  /** Takes one call that can no longer be refused. */
  noteCall(): void {
    this.#calls?.takeOne();
  }

  /** Takes one ID or value. @throws IdError QUOTA_EXCEEDED. */
  takeId(): void {
    const ids = this.#ids;
    if (ids !== undefined && !ids.takeOne()) throw this.#idsExceeded(ids, 1);
  }

  /**
   * Takes up to `count` IDs or values, and at least a tenth of a second's worth of them.
   *
   * @returns The number that was taken.
   * @throws IdError QUOTA_EXCEEDED.
   */
  takeIds(count: number): number {
    const ids = this.#ids;
    if (ids === undefined) return count;
    const taken = ids.take(count);
    if (taken === 0) throw this.#idsExceeded(ids, count);
    return taken;
  }

  /** Puts back IDs or values that were taken and not handed out. */
  giveBackIds(count: number): void {
    this.#ids?.giveBack(count);
  }

  /**
   * Takes up to `count` IDs or values, as soon as there are some.
   *
   * @returns The number that was taken; a promise of it if the caller has to wait.
   * @throws As rejection: the reason of the signal, which ends the wait. Nothing is taken then.
   */
  awaitIds(count: number, context: { readonly signal: AbortSignal }): number | Promise<number> {
    const ids = this.#ids;
    if (ids === undefined) return count;
    const booked = ids.book(count);
    return booked.waitMs === 0 ? booked.count : this.#waited(ids, booked, context.signal);
  }

  /** Opens a stream. @throws IdError QUOTA_EXCEEDED. */
  openStream(): void {
    const max = this.#streamsMax;
    if (max !== undefined && this.#streamCount >= max) {
      throw this.#exceeded(`${max} streams at one time`, { streams_max: max }, streamRetryMs);
    }
    this.#streamCount += 1;
  }

  closeStream(): void {
    this.#streamCount -= 1;
  }

  #limited(bucket: TokenBucket | undefined, perSecond: number | undefined): TokenBucket | undefined {
    if (perSecond === undefined) return undefined;
    if (bucket === undefined) return new TokenBucket({ perSecond, clock: this.#clock });
    bucket.perSecond = perSecond;
    return bucket;
  }

  async #waited(
    ids: TokenBucket,
    { count, waitMs }: ReturnType<TokenBucket["book"]>,
    signal: AbortSignal,
  ): Promise<number> {
    const over = Promise.withResolvers<void>();
    const cancel = this.#timers.after(waitMs, over.resolve);
    const abort = (): void => over.reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    try {
      await over.promise;
      return count;
    } catch (error) {
      ids.giveBack(count);
      throw error;
    } finally {
      cancel();
      signal.removeEventListener("abort", abort);
    }
  }

  #callsExceeded(calls: TokenBucket): IdError {
    return this.#exceeded(`${calls.perSecond} calls a second`, { calls_per_second: calls.perSecond }, calls.waitMs(1));
  }

  #idsExceeded(ids: TokenBucket, count: number): IdError {
    const { perSecond } = ids;
    return this.#exceeded(`${perSecond} IDs a second`, { ids_per_second: perSecond }, ids.waitMs(count));
  }

  #exceeded(quota: string, metadata: Readonly<Record<string, number>>, retryAfterMs: number): IdError {
    this.#refusedCount += 1;
    const message = `The quota of ${this.#name}, ${quota}, is used up for now.`;
    return new IdError("QUOTA_EXCEEDED", message, {
      metadata: { principal: this.#name, ...metadata },
      // Never 0: a caller that retried at once would be refused again.
      retryAfterMs: Math.max(1, Math.ceil(retryAfterMs - 1e-3)),
    });
  }
}
