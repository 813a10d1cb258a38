import { assert } from "../assert.ts";
import { IdError } from "../errors.ts";
import { highOf, IdWords, lowOf } from "./id-words.ts";
import { type Layout, msToTicksUp, ticksToMsDown, ticksToMsUp } from "./layout.ts";
import { type LeadLimits, LeadRule, leadLimits } from "./lead-rule.ts";
import { type Refusal, type Reservation, refusalError, windowRefusal } from "./reservation.ts";
import { type RollbackPolicy, type RollbackRule, rollbackPolicies, rollbackRules } from "./rollback-policy.ts";
import type { IdRun } from "./run.ts";
import { TickTable } from "./tick-table.ts";

/** The most IDs of one reservation. */
export const reserveCountMax = 1_048_576;

/**
 * `unary`: a few IDs that a caller waits for. `bulk`: a stream or a reservation, which leaves the end of the furthest
 * tick to unary calls.
 */
type Priority = "unary" | "bulk";

/**
 * How a generator handles clocks and bursts. Every length of time is raised to the least that the layout's tick
 * requires; see {@link leadLimits}.
 */
export interface GeneratorOptions {
  /** The layout of the IDs that are issued. */
  readonly layout: Layout;
  /** The reaction to a clock that goes back. Default: `advance`. */
  readonly policy?: RollbackPolicy | undefined;
  /** The most that timestamps lead the clock under load, in milliseconds. Default 10. */
  readonly burstMs?: number | undefined;
  /** The most that timestamps ever lead the clock, in milliseconds. Default 2,000. */
  readonly leadMaxMs?: number | undefined;
  /**
   * Default true: the first sequence number of a tick is drawn from the lower quarter unless the tick before was used
   * up, so that IDs of an idle worker spread over `id % n`. If false, it is 0.
   */
  readonly sequenceSpread?: boolean | undefined;
  /** A number from 0, inclusive, to 1, exclusive. It may be predictable, because an ID is not a secret. */
  readonly random: () => number;
}

/** The timestamps of one worker ID that a generator may use. */
export interface GrantWindow {
  /** 0 to `layout.datacenter.max`. */
  readonly datacenterId: number;
  /** 0 to `layout.worker.max`. */
  readonly workerId: number;
  /**
   * First Unix millisecond that may be used. Above every timestamp that was ever issued for this worker ID, by any
   * process.
   */
  readonly fromMs: number;
  /** The mark: no timestamp at or above this Unix millisecond is issued. */
  readonly untilMs: number;
}

/**
 * Issues the IDs of one worker, which are unique no matter what the clock shows.
 *
 * Never sleeps, never spins, and never reads a clock: the caller passes each reading and acts on a refusal. Not for use
 * by two threads at once. The caller ensures uniqueness across restarts: it passes a `fromMs` that is at or above the
 * `markMs` of every earlier use of the worker ID.
 */
export class SnowflakeGenerator {
  readonly layout: Layout;
  readonly policy: RollbackPolicy;
  /**
   * The most that timestamps ever lead the clock, in milliseconds: the configured limit, or two ticks if that is more.
   */
  readonly leadMaxMs: number;
  /** How many IDs the burst holds: about as many as are available at once after idling. */
  readonly burstCount: number;
  readonly #rule: RollbackRule;
  readonly #lead: LeadRule;
  readonly #table: TickTable | undefined;
  readonly #random: () => number;
  /** From how many sequence numbers the first one of a tick is drawn; 1 = it is always 0. */
  readonly #spreadCount: number;
  /** How many sequence numbers of the furthest permitted tick are kept for unary calls: docs/adr/0177. */
  readonly #keptCount: number;
  /** Whether successive IDs of a tick differ only in the lower half. */
  readonly #narrow: boolean;
  /** The last tick of the layout's life, and the highest sequence number. */
  readonly #tickMax: number;
  readonly #sequenceMax: number;
  /** The values that one tick, and one sequence number, add to an ID. */
  readonly #tickUnit: number;
  readonly #sequenceUnit: number;
  readonly #words = new IdWords();

  #window: GrantWindow | undefined;
  #held = false;
  #fromTick = 0;
  #untilTick = 0;
  /**
   * Highest reading in this grant, or its first millisecond if that is higher: below it `reject` and `wait` issue
   * nothing.
   */
  #floorMs = 0;
  #readingMs = Number.NaN;
  /** Whether the clock went back and `reuse` has not yet followed it. */
  #hasRegressed = false;
  /**
   * The reading at which an ID was last issued, at which the tick is known to be permitted; NaN if that has to be
   * checked.
   */
  #openMs = Number.NaN;
  /** Where the next ID goes: this sequence number of this tick, or the next tick if it is above the layout's. */
  #tick = -1;
  #sequence = 0;
  /** Equals #tick except under `reuse`. */
  #highestTick = -1;
  /** False until the first tick of a grant is entered. */
  #entered = false;
  /** The halves of an ID in which only the worker is set, and of one in which the tick is set as well. */
  #workerLow = 0;
  #workerHigh = 0;
  #tickLow = 0;
  #tickHigh = 0;
  #risingSpan = 0;

  /**
   * @throws IdError INVALID_LAYOUT if the sequence is above the timestamp: such IDs can be read, but those of one
   * worker would not rise. INVALID_CONFIG if a length of time is not a number of milliseconds from 0, or the burst is
   * above the greatest lead.
   */
  constructor(options: GeneratorOptions) {
    const { layout, policy = "advance" } = options;
    const limits = checkOptions(options);
    this.layout = layout;
    this.policy = policy;
    this.leadMaxMs = limits.leadMaxMs;
    this.#rule = rollbackRules[policy];
    this.#lead = new LeadRule(layout, limits, this.#rule.whileBehind === "lead");
    this.#table = this.#rule.order === "reusing" ? new TickTable(this.#lead.leadMaxTicks + 1) : undefined;
    this.#random = options.random;
    const sequenceCount = layout.sequence.max + 1;
    this.burstCount = this.#lead.burstTicks * sequenceCount;
    this.#spreadCount = (options.sequenceSpread ?? true) ? Math.max(1, Math.floor(sequenceCount / 4)) : 1;
    this.#keptCount = Math.ceil(sequenceCount / 2);
    this.#tickMax = layout.timestamp.max;
    this.#sequenceMax = layout.sequence.max;
    this.#tickUnit = 2 ** layout.timestamp.shift;
    this.#sequenceUnit = 2 ** layout.sequence.shift;
    this.#narrow = layout.sequence.shift + layout.sequence.bits <= 32;
  }

  /**
   * Begins a grant, in place of any earlier one.
   *
   * @param nowMs - Unix time in milliseconds. The time by which the window begins after it counts as a rollback's debt.
   */
  grant(window: GrantWindow, nowMs: number): void {
    const { datacenterId, workerId, fromMs, untilMs } = window;
    const { layout } = this;
    assert(isIn(layout.datacenter.max, datacenterId), `I3: datacenter ${datacenterId} is not in the layout`);
    assert(isIn(layout.worker.max, workerId), `I3: worker ${workerId} is not in the layout`);
    const isSameWorker = this.#window?.datacenterId === datacenterId && this.#window.workerId === workerId;
    assert(Number.isInteger(fromMs) && Number.isInteger(untilMs), `I1: ${fromMs} to ${untilMs} ms is not a window`);
    const fromTick = Math.max(0, msToTicksUp(layout, fromMs));
    assert(
      !isSameWorker || fromTick > this.#highestTick,
      `I3: the grant begins at tick ${fromTick}, which is not above ${this.#highestTick}`,
    );
    const datacenterUnit = 2 ** layout.datacenter.shift;
    const workerUnit = 2 ** layout.worker.shift;
    this.#workerLow = lowOf(datacenterUnit, datacenterId) + lowOf(workerUnit, workerId);
    this.#workerHigh = highOf(datacenterUnit, datacenterId) + highOf(workerUnit, workerId);
    this.#window = window;
    this.#held = true;
    this.#fromTick = fromTick;
    this.#untilTick = msToTicksUp(layout, untilMs);
    this.#floorMs = Math.max(nowMs, fromMs);
    this.#readingMs = nowMs;
    this.#hasRegressed = false;
    this.#openMs = Number.NaN;
    this.#tick = this.#fromTick - 1;
    this.#sequence = this.#sequenceMax + 1;
    this.#highestTick = this.#tick;
    this.#entered = false;
    this.#table?.clear();
    this.#risingSpan++;
    this.#lead.begin(this.#fromTick, nowMs);
  }

  /** Raises the mark to `untilMs`, which a durable reply has confirmed; a lower one changes nothing. */
  extend(untilMs: number): void {
    assert(this.#held && this.#window !== undefined, "I2: a window was extended that is not held");
    if (untilMs <= this.#window.untilMs) return;
    this.#window = { ...this.#window, untilMs };
    this.#untilTick = msToTicksUp(this.layout, untilMs);
  }

  /** Ends the grant: no further ID is issued. The last timestamp stays readable, for the release. */
  revoke(): void {
    this.#held = false;
    this.#openMs = Number.NaN;
  }

  /**
   * Reserves the next IDs of this worker: as many as are available without waiting, at least 1.
   *
   * Returns runs in issue order, one for each tick. Their IDs are used, even if the caller drops them.
   *
   * @param count - 1 to {@link reserveCountMax}, inclusive.
   * @param nowMs - Unix time in milliseconds; may go back between calls.
   * @param monotonicMs - Read only after a rollback, until its debt is paid.
   * @throws IdError COUNT_OUT_OF_RANGE, WORKER_LEASE_LOST, TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH, and under `reject`
   * and `wait` CLOCK_ROLLED_BACK.
   */
  reserve(count: number, nowMs: number, priority: Priority, monotonicMs: () => number): Reservation {
    if (!Number.isInteger(count) || count < 1 || count > reserveCountMax) {
      throw new IdError("COUNT_OUT_OF_RANGE", `The count ${count} is not from 1 to ${reserveCountMax}.`, {
        metadata: { count, count_min: 1, count_max: reserveCountMax },
      });
    }
    const refusal = this.#read(nowMs, monotonicMs);
    if (refusal !== undefined) return refusal;
    const runs: IdRun[] = [];
    let left = count;
    while (left > 0) {
      const room = this.#room(priority);
      if (room === 0) break;
      const taken = Math.min(left, room);
      this.#setWords();
      runs.push({ firstId: this.#words.id, count: taken, stride: this.layout.stride });
      this.#sequence += taken;
      left -= taken;
    }
    if (runs.length === 0) return this.#refuse(priority);
    this.#openMs = this.#narrow ? nowMs : Number.NaN;
    return { kind: "runs", runs };
  }

  /**
   * Issues one ID by the same rules as {@link reserve} for `unary`, without an object around it.
   *
   * @returns undefined where {@link reserve} would answer `wait` or `rolled-back`.
   * @throws IdError as {@link reserve}.
   */
  tryNext(nowMs: number, monotonicMs: () => number): bigint | undefined {
    if (nowMs === this.#openMs && this.#sequence <= this.#sequenceMax) {
      this.#words.low = this.#tickLow + lowOf(this.#sequenceUnit, this.#sequence++);
      return this.#words.id;
    }
    if (this.#read(nowMs, monotonicMs) !== undefined) return undefined;
    if (this.#room("unary") === 0) {
      this.#refuse("unary");
      return undefined;
    }
    this.#setWords();
    this.#sequence++;
    this.#openMs = this.#narrow ? nowMs : Number.NaN;
    return this.#words.id;
  }

  /**
   * Issues one ID, as {@link tryNext}.
   *
   * @throws IdError as {@link reserve}; and BURST_EXCEEDED, CLOCK_ROLLED_BACK, WINDOW_EXPIRED with `retryAfterMs` where
   * that would answer `wait` or `rolled-back`.
   */
  next(nowMs: number, monotonicMs: () => number): bigint {
    const id = this.tryNext(nowMs, monotonicMs);
    if (id !== undefined) return id;
    throw refusalError(this.#read(nowMs, monotonicMs) ?? this.#refuse("unary"), nowMs);
  }

  /** Names the span in which IDs rise: grows with each grant and, under `reuse`, with each step back. */
  get risingSpan(): number {
    return this.#risingSpan;
  }

  /**
   * The highest timestamp in use, as Unix milliseconds, rounded down; before the first ID the end of what the grant
   * excludes.
   */
  get lastMs(): number {
    return ticksToMsDown(this.layout, this.#highestTick);
  }

  /** The first Unix millisecond above every timestamp issued in this grant, rounded up: what a release writes. */
  get markMs(): number {
    return ticksToMsUp(this.layout, this.#highestTick + 1);
  }

  /** The mark below which timestamps may be issued; 0 if no grant is held. */
  get untilMs(): number {
    return this.#held && this.#window !== undefined ? this.#window.untilMs : 0;
  }

  /** By how many milliseconds the highest timestamp leads `nowMs`; 0 if it does not. */
  leadMs(nowMs: number): number {
    return Math.max(0, this.lastMs - nowMs);
  }

  /** By how many milliseconds timestamps may lead the clock because it went back, beyond the burst. */
  get debtMs(): number {
    return this.#lead.debtMs;
  }

  /** Takes a reading of the clock, and returns a refusal if it forbids every ID. */
  #read(nowMs: number, monotonicMs: () => number): Refusal | undefined {
    this.#openMs = Number.NaN;
    if (!this.#held) {
      const message = "This process holds no worker ID at the moment.";
      throw new IdError("WORKER_LEASE_LOST", message, { retryAfterMs: leaseRetryMs });
    }
    if (!(nowMs >= this.layout.epochMs)) {
      const message = `The clock shows ${nowMs} ms, which is before the layout's epoch ${this.layout.epochMs} ms.`;
      throw new IdError("CLOCK_BEFORE_EPOCH", message, {
        metadata: { now_ms: nowMs, epoch_ms: this.layout.epochMs },
      });
    }
    if (nowMs < this.#readingMs) this.#hasRegressed = true;
    this.#readingMs = nowMs;
    this.#lead.read(nowMs, this.#highestTick, monotonicMs);
    if (this.#rule.whileBehind !== "lead") return this.#standBelowFloor(nowMs);
    const aheadTicks = this.#highestTick - this.#lead.nowTick;
    if (aheadTicks > this.#lead.leadMaxTicks) {
      const untilMs = this.#lead.permittedAtMs(this.#highestTick, this.#highestTick);
      return { kind: "rolled-back", aheadMs: this.lastMs - nowMs, untilMs };
    }
    if (this.#hasRegressed && this.#table !== undefined) this.#goBack(this.#table);
    this.#hasRegressed = false;
    return undefined;
  }

  /** The rule of `reject` and `wait`. */
  #standBelowFloor(nowMs: number): Refusal | undefined {
    if (nowMs >= this.#floorMs) {
      this.#floorMs = nowMs;
      return undefined;
    }
    const behindMs = this.#floorMs - nowMs;
    if (this.#rule.whileBehind === "wait" && behindMs <= this.leadMaxMs) {
      return { kind: "wait", untilMs: this.#floorMs, cause: "rollback" };
    }
    throw new IdError("CLOCK_ROLLED_BACK", `The clock is ${behindMs} ms behind what it has shown.`, {
      metadata: { behind_ms: behindMs },
      retryAfterMs: behindMs,
    });
  }

  /** The rule of `reuse`: goes back to the first tick from the clock's on in which a sequence number is unused. */
  #goBack(table: TickTable): void {
    if (!this.#entered) return;
    table.note(this.#tick, this.#sequence);
    const leftTick = this.#tick;
    for (let tick = Math.max(this.#lead.nowTick, this.#fromTick); tick < leftTick; tick++) {
      const next = table.next(tick) ?? this.#firstSequence(tick);
      if (next > this.#sequenceMax) continue;
      this.#risingSpan++;
      this.#tick = tick;
      this.#sequence = next;
      this.#setTickWords();
      return;
    }
  }

  /**
   * Moves to where the next ID goes, and enters the next tick if it is needed and permitted.
   *
   * @returns How many IDs are available there; 0 if none is.
   */
  #room(priority: Priority): number {
    const floorTick = this.#floorTick();
    for (;;) {
      const tick = this.#candidateTick(floorTick);
      if (!(tick <= this.#tickMax && tick < this.#untilTick && tick <= this.#lead.limitTick)) return 0;
      const keptCount = priority === "bulk" && tick === this.#lead.limitTick ? this.#keptCount : 0;
      // The tick is not even entered: a tick in which nothing is issued must not raise the mark.
      if (keptCount > this.#sequenceMax) return 0;
      if (tick !== this.#tick) this.#enter(tick);
      if (this.#sequence > this.#sequenceMax) continue;
      return Math.max(0, this.#sequenceMax + 1 - this.#sequence - keptCount);
    }
  }

  /** The tick below which the next ID is not issued. */
  #floorTick(): number {
    return this.#rule.advancesWith === "sequence" ? 0 : this.#lead.nowTick;
  }

  #candidateTick(floorTick: number): number {
    const tick = this.#sequence > this.#sequenceMax ? this.#tick + 1 : this.#tick;
    return Math.max(tick, floorTick);
  }

  #enter(tick: number): void {
    assert(this.#held && tick >= this.#fromTick, () => `I2: tick ${tick} is not in the grant`);
    assert(tick < this.#untilTick, () => `I1: tick ${tick} is not below the mark ${this.#untilTick}`);
    assert(tick > this.#tick, () => `I4: tick ${tick} is not above ${this.#tick}`);
    if (this.#entered) this.#table?.note(this.#tick, this.#sequence);
    this.#sequence = this.#table?.next(tick) ?? this.#firstSequence(tick);
    this.#tick = tick;
    this.#highestTick = Math.max(tick, this.#highestTick);
    this.#entered = true;
    this.#setTickWords();
  }

  #firstSequence(tick: number): number {
    // At full load sequences start at 0, so that spreading costs no capacity. The start of a grant is not full load.
    const isSaturated = this.#entered && tick === this.#tick + 1 && this.#sequence > this.#sequenceMax;
    if (isSaturated || this.#spreadCount === 1) return 0;
    const first = Math.floor(this.#random() * this.#spreadCount);
    assert(isIn(this.#spreadCount - 1, first), () => `I3: the random source gave a sequence of ${first}`);
    return first;
  }

  #setTickWords(): void {
    this.#tickLow = this.#workerLow + lowOf(this.#tickUnit, this.#tick);
    this.#tickHigh = this.#workerHigh + highOf(this.#tickUnit, this.#tick);
  }

  #setWords(): void {
    this.#words.low = this.#tickLow + lowOf(this.#sequenceUnit, this.#sequence);
    this.#words.high = this.#tickHigh + highOf(this.#sequenceUnit, this.#sequence);
  }

  /** The reason why there is no room. @throws IdError TIMESTAMP_EXHAUSTED. */
  #refuse(priority: Priority): Refusal {
    const { layout } = this;
    const nowMs = this.#readingMs;
    const tick = this.#candidateTick(this.#floorTick());
    if (tick > this.#tickMax) {
      const message = `The layout ${layout.name} ran out at ${layout.endMs} ms: its timestamp field is used up.`;
      throw new IdError("TIMESTAMP_EXHAUSTED", message, {
        metadata: { layout: layout.name, end_ms: layout.endMs, now_ms: nowMs },
      });
    }
    if (tick >= this.#untilTick) return windowRefusal(nowMs);
    const left = this.#sequenceMax + 1 - (tick === this.#tick ? this.#sequence : 0);
    // A bulk caller may not use the rest of the furthest tick, so it has to wait for a further one.
    const wanted = priority === "bulk" && left <= this.#keptCount ? tick + 1 : tick;
    const untilMs = Math.max(nowMs + 1, this.#lead.permittedAtMs(wanted, this.#highestTick));
    return { kind: "wait", untilMs, cause: this.#lead.isAboveLeadMax(wanted) ? "rollback" : "burst" };
  }
}

/** After how long a caller without a grant may try again: acquiring one takes about this long. */
const leaseRetryMs = 1_000;

function isIn(max: number, value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}

/**
 * Refuses a layout whose IDs can be read but not issued: with the sequence above the timestamp, those of one worker
 * would not rise. docs/adr/0004 has the decision.
 *
 * @throws IdError INVALID_LAYOUT.
 */
export function checkIssuable(layout: Layout): void {
  if (layout.sequence.bits === 0 || layout.sequence.shift < layout.timestamp.shift) return;
  const message =
    "The sequence is above the timestamp: IDs of such a layout can be read, but new ones would not be in ascending order.";
  throw new IdError("INVALID_LAYOUT", message, { metadata: { layout: layout.name } });
}

function checkOptions({ layout, policy, burstMs, leadMaxMs }: GeneratorOptions): LeadLimits {
  checkIssuable(layout);
  if (policy !== undefined && !rollbackPolicies.includes(policy)) {
    throw new IdError("INVALID_CONFIG", `There is no rollback policy ${policy}.`, { metadata: { policy } });
  }
  const limits = leadLimits(layout, { burstMs, leadMaxMs });
  const areLengths = [burstMs ?? 0, leadMaxMs ?? 0].every((lengthMs) => Number.isFinite(lengthMs) && lengthMs >= 0);
  if (!areLengths || limits.burstMs > limits.leadMaxMs) {
    const message = `The burst, ${limits.burstMs} ms, must be from 0 to the greatest lead, ${limits.leadMaxMs} ms.`;
    const metadata = { burst_ms: limits.burstMs, lead_max_ms: limits.leadMaxMs };
    throw new IdError("INVALID_CONFIG", message, { metadata });
  }
  return limits;
}
