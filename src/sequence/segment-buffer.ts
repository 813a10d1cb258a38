/**
 * The stock of one sequence in one period: a segment in use, and those that follow it. Pure: it uses no clock and no
 * store.
 */
import { assert } from "../assert.ts";
import { StepPolicy } from "./step-policy.ts";
import { endCountOf, type SequenceDefinition, type Stripe, valueAt } from "./sequence.ts";

/** Values that were taken from the database at once, by their indexes. */
export interface Segment {
  /** The index of the first one. */
  readonly firstIndex: bigint;
  /** At least 1. */
  readonly count: number;
  /**
   * The mark that the take left in the counter's row: the range can be given back only while the mark is still there.
   */
  readonly writeId: string;
  /** The stripe of the database that it was taken from. */
  readonly stripe: Stripe;
}

/** Values in arithmetic progression. */
export interface ValueRun {
  readonly firstValue: bigint;
  readonly count: number;
  readonly increment: bigint;
}

/** The part of a stock that can be given back to a database: everything up to the end of the last take from it. */
export interface Remainder {
  readonly firstIndex: bigint;
  /** Exclusive. */
  readonly endIndex: bigint;
  readonly writeId: string;
  readonly stripe: Stripe;
}

/** One empty list for all: of many sequences in memory, most have no segment that follows. */
const noSegments: readonly Segment[] = [];
/** The share of a segment that is used when the next one is taken. */
const usedShare = 0.1;
/** The most values that one take of a strict sequence asks for. */
const strictCountMax = 1_000;
/** A rate that was measured over a shorter time is not used. */
const rateSpanMs = 1_000;
/** Below every number of values that can be left: {@link SegmentBuffer.wants} does not have to be called. */
const never = -1;

/**
 * Hands out the values of segments, in the order in which they were taken, and says when the next one is to be taken:
 * when a tenth of the segment in use is used and none follows, when what is left lasts less than two round trips, or
 * when callers wait. A strict sequence takes only for callers that wait.
 *
 * At most one take is on its way: {@link wants} answers once, until {@link arrived} or {@link failed} is called.
 *
 * Example: callers use 1,000 values a second, the smallest step is 1,000, and a take is answered after 4 ms.
 * - The first caller waits, so 1,000 values are taken: 1 to 1,000. No caller waits after that.
 * - After 100 ms a tenth of them is used, and 2,000 more are taken: twice the last step. When they come, 896 are left.
 * - 900 ms later the second segment comes into use. None follows, so it is due when a tenth of it is used: with 1,800
 *   values left, 4,000 more are taken. Each segment is twice as long, until one lasts a quarter of an hour: 900,000.
 * - When the last answer took 400 ms, two round trips use 800 values: a take is then due with 800 values in memory,
 *   although some of them are in a segment that follows.
 */
export class SegmentBuffer {
  #definition: SequenceDefinition;
  readonly #policy: StepPolicy;
  #following: readonly Segment[] = noSegments;
  #current: Segment | undefined;
  #nextValue = 0n;
  #increment = 1n;
  /** Values left in the segment in use. */
  #left = 0;
  /** Values in the segments that follow. */
  #followingCount = 0;
  #dueLeft = 0;
  #isTaking = false;
  #usedCount = 0;
  #sinceMs = 0;
  #askedMs = 0;
  #roundTripMs = 0;
  #ratePerMs = 0;
  /** The end of the last take in each database, beyond the stock where that was cut, one entry each. */
  #lastTakes: readonly Omit<Remainder, "firstIndex">[] = [];

  constructor(definition: SequenceDefinition) {
    this.#definition = definition;
    this.#policy = new StepPolicy(definition);
    this.#setDue();
  }

  /** Replaces the definition, in which only the changeable fields may differ. */
  set definition(definition: SequenceDefinition) {
    this.#definition = definition;
    this.#policy.bounds = definition;
  }

  /** How many values can be handed out now. */
  get stockCount(): number {
    return this.#left + this.#followingCount;
  }

  /**
   * How long the stock lasts at the rate since the last take; infinite if no values are used. For monitoring.
   *
   * @param nowMs - Monotonic time.
   */
  lastsMs(nowMs: number): number {
    const elapsedMs = nowMs - this.#sinceMs;
    // In the first second after a take, the rate before the take is more reliable.
    const ratePerMs = elapsedMs < rateSpanMs ? this.#ratePerMs : (this.#usedCount + this.#usedOfCurrent()) / elapsedMs;
    return ratePerMs > 0 ? this.stockCount / ratePerMs : Number.POSITIVE_INFINITY;
  }

  /** Whether {@link wants} should be called: one comparison, for the hot path. */
  get isDue(): boolean {
    return this.#left <= this.#dueLeft;
  }

  /** Hands out one value; undefined = none is in memory. */
  tryNext(): bigint | undefined {
    if (this.#left === 0 && !this.#advance()) return undefined;
    this.#left -= 1;
    const value = this.#nextValue;
    this.#nextValue = value + this.#increment;
    return value;
  }

  /** Hands out 1 to `count` values of the segment in use; undefined = none is in memory. */
  takeRun(count: number): ValueRun | undefined {
    if (this.#left === 0 && !this.#advance()) return undefined;
    const taken = Math.min(count, this.#left);
    const run = { firstValue: this.#nextValue, count: taken, increment: this.#increment };
    this.#left -= taken;
    this.#nextValue += BigInt(taken) * this.#increment;
    return run;
  }

  /**
   * How many values to take now; undefined = none.
   *
   * @param nowMs - Monotonic time.
   * @param waitingCount - How many values the callers that wait have asked for.
   */
  wants(nowMs: number, waitingCount: number): number | undefined {
    if (this.#isTaking) return undefined;
    const missing = waitingCount - this.stockCount;
    const count = this.#definition.allocation === "strict" ? missing : this.#segmentCount(nowMs, missing);
    if (count <= 0) return undefined;
    this.#isTaking = true;
    this.#askedMs = nowMs;
    this.#dueLeft = never;
    return this.#definition.allocation === "strict" ? Math.min(count, strictCountMax) : count;
  }

  /** Adds a segment. Values beyond the sequence's end are dropped. */
  arrived(segment: Segment, nowMs: number): void {
    this.#isTaking = false;
    this.#roundTripMs = nowMs - this.#askedMs;
    const { stripe, writeId } = segment;
    const endIndex = segment.firstIndex + BigInt(segment.count);
    const endCount = endCountOf(this.#definition, stripe);
    const count = Number((endIndex < endCount ? endIndex : endCount) - segment.firstIndex);
    const last = this.#lastTakes.find((take) => take.stripe.index === stripe.index);
    const isAbove = last === undefined || segment.firstIndex >= last.endIndex;
    assert(isAbove, () => `a segment begins at ${segment.firstIndex}, below ${last?.endIndex}`);
    this.#lastTakes = [...this.#lastTakes.filter((take) => take !== last), { endIndex, writeId, stripe }];
    if (count > 0) {
      this.#following = [...this.#following, count === segment.count ? segment : { ...segment, count }];
      this.#followingCount += count;
    }
    if (this.#left === 0) this.#advance();
    this.#setDue();
  }

  /** The take has failed, or its outcome is unknown: its range is never used. */
  failed(): void {
    this.#isTaking = false;
    this.#setDue();
  }

  /**
   * Closes the stock: nothing is handed out any more. @returns What can be given back: at most one entry for each
   * database.
   */
  close(): readonly Remainder[] {
    this.#dueLeft = never;
    const remainders = this.#lastTakes.flatMap((last) => {
      const firstIndex = this.#firstOfRemainder(last.stripe);
      return firstIndex === undefined || firstIndex >= last.endIndex ? [] : [{ firstIndex, ...last }];
    });
    this.#left = 0;
    this.#followingCount = 0;
    this.#following = noSegments;
    this.#current = undefined;
    this.#lastTakes = [];
    return remainders;
  }

  /** The first of the unused values of a stripe that reach, without a gap, to the end of the last take from it. */
  #firstOfRemainder(stripe: Stripe): bigint | undefined {
    const all = [...this.#following];
    if (this.#current !== undefined) {
      const used = BigInt(this.#current.count - this.#left);
      all.unshift({ ...this.#current, firstIndex: this.#current.firstIndex + used, count: this.#left });
    }
    const segments = all.filter((segment) => segment.stripe.index === stripe.index);
    const last = segments.pop();
    if (last === undefined) return undefined;
    // A last segment that was cut ends before its take does, and the rest of the take is given back with it.
    let { firstIndex } = last;
    for (let before = segments.pop(); before !== undefined; before = segments.pop()) {
      if (before.firstIndex + BigInt(before.count) !== firstIndex) break;
      ({ firstIndex } = before);
    }
    return firstIndex;
  }

  #segmentCount(nowMs: number, missing: number): number {
    if (missing <= 0 && this.#left > this.#dueLeft) return 0;
    const used = this.#usedCount + this.#usedOfCurrent();
    const elapsedMs = nowMs - this.#sinceMs;
    const step = this.#policy.next({ usedCount: used, elapsedMs, isStarved: missing > 0 });
    this.#ratePerMs = this.#sinceMs === 0 ? 0 : used / Math.max(elapsedMs, 1);
    this.#sinceMs = nowMs;
    this.#usedCount = -this.#usedOfCurrent();
    return Math.min(Math.max(step, missing), this.#definition.stepMax);
  }

  #usedOfCurrent(): number {
    return this.#current === undefined ? 0 : this.#current.count - this.#left;
  }

  #advance(): boolean {
    this.#usedCount += this.#usedOfCurrent();
    [this.#current] = this.#following;
    if (this.#current === undefined) return false;
    this.#following = this.#following.length === 1 ? noSegments : this.#following.slice(1);
    this.#left = this.#current.count;
    this.#followingCount -= this.#left;
    const { firstIndex, stripe } = this.#current;
    this.#nextValue = valueAt(this.#definition, firstIndex, stripe);
    const { increment } = this.#definition;
    this.#increment = stripe.count === 1 ? increment : increment * BigInt(stripe.count);
    if (!this.#isTaking) this.#setDue();
    return true;
  }

  #setDue(): void {
    if (this.#definition.allocation === "strict") this.#dueLeft = never;
    else {
      const lastsTwoTrips = Math.ceil(this.#ratePerMs * this.#roundTripMs * 2) - this.#followingCount;
      const tenthUsed = this.#followingCount > 0 ? never : Math.floor((this.#current?.count ?? 0) * (1 - usedShare));
      this.#dueLeft = Math.max(tenthUsed, lastsTwoTrips > 0 ? lastsTwoTrips : never);
    }
  }
}
