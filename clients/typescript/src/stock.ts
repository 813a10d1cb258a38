import type { Answer } from "./answer.ts";
import type { Clock } from "./clock.ts";
import { notify, type ClientObserver } from "./observer.ts";
import type { ReserveState } from "./outage-policy.ts";
import type { RefillPolicy } from "./refill-policy.ts";

/** The low-water marks of a stock, and the callbacks for answers that are low or too old. */
export interface StockOptions {
  /** Decides at how many IDs an answer is low. */
  readonly policy: RefillPolicy;
  readonly clock: Clock;
  /** Called with the IDs that are dropped. */
  readonly observer: ClientObserver;
  /** Called once per answer, when it is down to its low-water mark. */
  readonly onLowWater: () => void;
  /** Called when IDs of an answer are about to be handed out that are too old. It must drop the answer. */
  readonly onTooOld: (answer: Answer) => void;
}

/** The age of IDs is checked at least once in this many claims, */
const claimsPerLookMax = 64;
/** and at least once in this much time of use. docs/adr/0240 says what that costs. */
const usePerLookMs = 10;

/**
 * The IDs at hand. Callers claim from the run in place, which is part of the answer in use. Behind it there is at most
 * one spare answer. Once both are used up, the newest piece of the reserve comes into use. Nothing is put back: an
 * answer in use is used up or dropped. docs/adr/0198 says why.
 */
export class Stock {
  readonly #policy: RefillPolicy;
  readonly #clock: Clock;
  readonly #observer: ClientObserver;
  readonly #onLowWater: () => void;
  readonly #onTooOld: (answer: Answer) => void;

  // The run in place. `#next` is the only word that changes for an ID: everything below it has been handed out.
  #firstId = 0n;
  #stride = 1n;
  #next = 0;
  /**
   * Up to this index a claim needs no further work. It is the next check of the age, the low-water mark, or the end of
   * the run.
   */
  #fastEnd = 0;
  /** The low-water mark; the end of the run once the mark is met. */
  #markAt = 0;
  #claimsPerLook = 1;
  #end = 0;

  /** The answer in use. */
  #answer: Answer | undefined;
  #spare: Answer | undefined;
  /** Pieces of answers that are kept for an outage, the newest last. */
  readonly #reserve: Answer[] = [];
  /** How many IDs the reserve has. */
  #reserveCount = 0;

  /** Handed out of runs that are no longer in place. */
  #settledCount = 0;
  #reservedCount = 0;
  #droppedCount = 0;

  constructor({ policy, clock, observer, onLowWater, onTooOld }: StockOptions) {
    this.#policy = policy;
    this.#clock = clock;
    this.#observer = observer;
    this.#onLowWater = onLowWater;
    this.#onTooOld = onTooOld;
  }

  /** IDs at hand. */
  get count(): number {
    const workingCount = this.#end - this.#next + (this.#answer?.leftCount ?? 0) + (this.#spare?.leftCount ?? 0);
    return workingCount + this.#reserveCount;
  }

  get handedOutCount(): number {
    return this.#settledCount + this.#next;
  }

  /** IDs that were taken into stock. */
  get reservedCount(): number {
    return this.#reservedCount;
  }

  /** IDs that were dropped unused. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  get hasSpare(): boolean {
    return this.#spare !== undefined;
  }

  /** Whether the next answer is due: the one in use is down to its low-water mark, and there is no spare one. */
  get isLow(): boolean {
    return this.#answer?.hasAsked === true && this.#spare === undefined;
  }

  /** The size of the reserve. @param youngMs - The age below which IDs count as young. */
  reserveState(youngMs: number): ReserveState {
    let youngCount = 0;
    for (const { leftCount } of this.#youngPieces(youngMs)) youngCount += leftCount;
    return { youngCount, pieceCount: this.#reserve.length };
  }

  /** How long the IDs last at a rate, before the last of them is used up or too old. */
  lastsMs(ratePerSecond: number, maxAgeMs: number): number {
    let ms = ((this.count - this.#reserveCount) * 1_000) / ratePerSecond;
    for (const piece of this.#youngPieces(maxAgeMs))
      ms = Math.max(ms, Math.min(ms + (piece.leftCount * 1_000) / ratePerSecond, maxAgeMs - piece.ageMs));
    return Math.min(ms, maxAgeMs);
  }

  /** Claims one ID; undefined if there is none. */
  claim(): bigint | undefined {
    const index = this.#next;
    if (index < this.#fastEnd) {
      this.#next = index + 1;
      // No ID has more bits. With that stated, V8 computes with machine words, and makes one bigint in place of three.
      return BigInt.asUintN(64, this.#firstId + BigInt(index) * this.#stride);
    }
    return this.#claimSlowly();
  }

  /** Claims what is left of the run in place, up to `count` IDs in `ids`; false if there is no stock. */
  claimBlock(ids: bigint[], count: number): boolean {
    if (!this.#placeFreshRun()) return false;
    const start = this.#next;
    this.#next = Math.min(this.#end, start + count - ids.length);
    if (this.#next > this.#markAt) this.#meetLowWater();
    let id = this.#firstId + BigInt(start) * this.#stride;
    for (let index = start; index < this.#next; index++, id += this.#stride) ids.push(id);
    return true;
  }

  /** Adds an answer that was requested because the one in use is about to end. */
  add(answer: Answer): void {
    this.#reservedCount += answer.count;
    this.#spare = answer;
  }

  /** Adds the pieces of an answer that was requested for the reserve. They are used in their order. */
  addReserve(pieces: readonly Answer[]): void {
    for (const piece of pieces.toReversed()) {
      this.#reservedCount += piece.count;
      this.#reserveCount += piece.count;
      piece.isOfReserve = true;
      this.#reserve.push(piece);
    }
  }

  /** Drops an answer. Doing it again does nothing. */
  drop(answer: Answer): void {
    let dropped = answer.leftCount;
    if (answer === this.#answer) {
      dropped += this.#closeRun();
      this.#answer = undefined;
    } else if (answer === this.#spare) this.#spare = undefined;
    else if (!this.#takeFromReserve(answer)) return;
    answer.cancelExpiry();
    this.#droppedCount += dropped;
    if (dropped > 0) notify(() => this.#observer.onExpire?.({ dropped }));
  }

  /** Drops the whole stock. */
  dropAll(): void {
    for (const answer of [this.#answer, this.#spare, ...this.#reserve]) if (answer !== undefined) this.drop(answer);
  }

  #claimSlowly(): bigint | undefined {
    if (!this.#placeFreshRun()) return undefined;
    const index = this.#next++;
    if (index >= this.#markAt) this.#meetLowWater();
    this.#fastEnd = Math.min(this.#markAt, index + this.#claimsPerLook);
    return this.#firstId + BigInt(index) * this.#stride;
  }

  #meetLowWater(): void {
    this.#markAt = this.#end;
    const answer = this.#answer;
    if (answer === undefined || answer.hasAsked) return;
    answer.hasAsked = true;
    // If the mark is at its first ID, meeting it says nothing about the rate of use.
    if (this.#markOf(answer) < answer.count)
      this.#policy.noteMark(answer.count, this.#clock.monotonicMs() - (answer.inUseFromMs ?? 0));
    this.#onLowWater();
  }

  /**
   * Makes sure that the run in place has IDs, and that they are young enough: after a pause of the process, claims come
   * before the timers. False if there is no stock.
   */
  #placeFreshRun(): boolean {
    for (;;) {
      while (this.#next >= this.#end) if (!this.#placeNextRun()) return false;
      if (this.#answer?.isTooOld !== true) return true;
      this.#onTooOld(this.#answer);
    }
  }

  /** Puts the next run of the stock in place of one that is used up. */
  #placeNextRun(): boolean {
    let run = this.#answer?.takeRun();
    if (run === undefined) {
      this.#answer?.cancelExpiry();
      this.#answer = this.#takeNextAnswer();
      run = this.#answer?.takeRun();
    }
    this.#closeRun();
    const answer = this.#answer;
    if (run === undefined || answer === undefined) return false;
    if (answer.inUseFromMs === undefined) {
      answer.inUseFromMs = this.#clock.monotonicMs();
      this.#policy.noteInUse();
    }
    const aboveMark = run.count + answer.leftCount - this.#markOf(answer);
    this.#firstId = run.firstId;
    this.#stride = run.stride;
    this.#end = run.count;
    this.#markAt = answer.hasAsked ? run.count : Math.min(run.count, Math.max(0, aboveMark));
    const claims = Math.floor((this.#policy.ratePerSecond * usePerLookMs) / 1_000);
    this.#claimsPerLook = Math.min(claimsPerLookMax, Math.max(1, claims));
    return true;
  }

  #markOf({ isOfReserve, count }: Answer): number {
    return isOfReserve ? count : this.#policy.lowWater(count);
  }

  /** Takes the spare answer, or else the newest piece of the reserve. */
  #takeNextAnswer(): Answer | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    const piece = this.#reserve.at(-1);
    if (spare !== undefined || piece === undefined) return spare;
    this.#takeFromReserve(piece);
    return piece;
  }

  /** Removes a piece from the reserve. Returns whether it was there. */
  #takeFromReserve(piece: Answer): boolean {
    const index = this.#reserve.lastIndexOf(piece);
    if (index === -1) return false;
    this.#reserve.splice(index, 1);
    this.#reserveCount -= piece.leftCount;
    return true;
  }

  /** The pieces of the reserve that are younger than the given age, the newest first. */
  *#youngPieces(ageMs: number): Generator<Answer> {
    for (let index = this.#reserve.length - 1; index >= 0; index--) {
      const piece = this.#reserve[index] as Answer;
      if (piece.ageMs >= ageMs) return;
      yield piece;
    }
  }

  /** Ends the run in place, and returns how many of its IDs no caller will get. Doing it again does nothing. */
  #closeRun(): number {
    const leftCount = this.#end - this.#next;
    this.#settledCount += this.#next;
    this.#next = 0;
    this.#fastEnd = 0;
    this.#markAt = 0;
    this.#end = 0;
    return leftCount;
  }
}
