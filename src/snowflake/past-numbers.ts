/**
 * How rows of the past are numbered: the command, the library, a database and callers of ClaimPast all do it in the
 * same way.
 *
 * Rows come sorted by time. Of k worker IDs ("lanes") each tick has C = k x 2^sequenceBits slots, counted from the
 * first tick of the claim: `slot = max(slot before + 1, tick x C)`. The ID of a slot has the tick `slot div C`, the
 * lane `slot mod C div 2^sequenceBits`, and the rest as its sequence number. So a full tick overflows into the next
 * ones, and only the last slot has to be remembered.
 */
import { checkIssuable } from "./generator.ts";
import { composeId, type Layout, msToTicksDown, msToTicksUp, ticksToMsDown, ticksToMsUp } from "./layout.ts";

/** The most worker IDs that a claim of the past has. */
export const lanesMax = 16;

/** A worker ID whose past was claimed. */
export interface PastLane {
  readonly datacenterId: number;
  readonly workerId: number;
}

/** How many rows one tick has room for. */
export function slotsOfTick(layout: Layout, laneCount: number): number {
  return laneCount * (layout.sequence.max + 1);
}

/** An interval, extended to all of the ticks that it touches: Unix milliseconds, its end exclusive. */
export function inWholeTicks(layout: Layout, fromMs: number, untilMs: number) {
  return {
    fromMs: ticksToMsDown(layout, msToTicksDown(layout, fromMs)),
    untilMs: ticksToMsUp(layout, msToTicksUp(layout, untilMs)),
  };
}

/** The slots of rows, one after another. Ticks count from the layout's epoch. */
export class PastSlots {
  readonly #capacity: number;
  #tick = Number.NEGATIVE_INFINITY;
  #place = 0;
  #lagMax = 0;

  /** @param capacity - From {@link slotsOfTick}. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The tick of the last slot. */
  get tick(): number {
    return this.#tick;
  }

  /** The place of the last slot in its tick, from 0 up. */
  get place(): number {
    return this.#place;
  }

  /** The most ticks by which a slot was later than its row. */
  get lagMax(): number {
    return this.#lagMax;
  }

  /** Takes the slot of the next row, which is at least in the row's tick. */
  take(rowTick: number): void {
    if (rowTick > this.#tick) {
      this.#tick = rowTick;
      this.#place = 0;
      return;
    }
    this.#place += 1;
    if (this.#place >= this.#capacity) {
      this.#place = 0;
      this.#tick += 1;
    }
    if (this.#tick - rowTick > this.#lagMax) this.#lagMax = this.#tick - rowTick;
  }
}

/** The IDs of rows of the past, within an interval that was claimed. */
export class PastNumbers {
  readonly slots: PastSlots;
  readonly #laneIds: readonly bigint[];
  readonly #sequenceCount: number;
  readonly #tickShift: bigint;
  readonly #stride: bigint;
  readonly #firstTick: number;
  readonly #endTick: number;

  /**
   * @param claim - Ticks count from the layout's epoch; `endTick` is exclusive. Lanes in the order of their use.
   * @throws IdError INVALID_LAYOUT: see {@link checkIssuable}.
   */
  constructor(
    layout: Layout,
    claim: { readonly firstTick: number; readonly endTick: number; readonly lanes: readonly PastLane[] },
  ) {
    checkIssuable(layout);
    this.slots = new PastSlots(slotsOfTick(layout, claim.lanes.length));
    this.#laneIds = claim.lanes.map((lane) => composeId(layout, { ticks: 0, ...lane, sequence: 0 }));
    this.#sequenceCount = layout.sequence.max + 1;
    this.#tickShift = BigInt(layout.timestamp.shift);
    this.#stride = layout.stride;
    this.#firstTick = claim.firstTick;
    this.#endTick = claim.endTick;
  }

  /**
   * The ID of the next row.
   *
   * @param rowTick - The tick of the row's time; one below the claim counts as the claim's first.
   * @returns undefined if the claim has no slot left for it: then it and all later rows get no ID.
   */
  next(rowTick: number): bigint | undefined {
    const { slots } = this;
    slots.take(Math.max(rowTick, this.#firstTick));
    if (slots.tick >= this.#endTick) return undefined;
    const lane = Math.floor(slots.place / this.#sequenceCount);
    const sequence = slots.place % this.#sequenceCount;
    return (BigInt(slots.tick) << this.#tickShift) | this.#laneIds[lane]! | (BigInt(sequence) * this.#stride);
  }
}
