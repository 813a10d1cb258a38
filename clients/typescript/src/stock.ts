import type { Answer } from "./answer.ts";
import { notify, type ClientObserver } from "./observer.ts";
import type { RefillPolicy } from "./refill-policy.ts";

/** The low-water marks of a stock, and whom it tells of low and of old answers. */
export interface StockOptions {
  /** Says at how many IDs an answer is low. */
  readonly policy: RefillPolicy;
  /** Called with the IDs that are dropped. */
  readonly observer: ClientObserver;
  /** Called once an answer, when no more IDs of it are left than its low-water mark. */
  readonly onLowWater: () => void;
  /** Called when IDs of an answer would be handed out that are too old. It must drop the answer. */
  readonly onTooOld: (answer: Answer) => void;
}

/** The age of IDs is looked at each so many claims at least, */
const claimsPerLookMax = 64;
/** and after so much use. */
const usePerLookMs = 10;

/** The IDs at hand: the run in place, from which callers claim, its answer, and the spare answers, oldest first. */
export class Stock {
  readonly #policy: RefillPolicy;
  readonly #observer: ClientObserver;
  readonly #onLowWater: () => void;
  readonly #onTooOld: (answer: Answer) => void;

  // The run in place. `#next` is the only word that changes for an ID: everything below it has been handed out.
  #firstId = 0n;
  #stride = 1n;
  #next = 0;
  /** Up to here nothing but the claim is to be done: the next look at the age, the low-water mark, or the end. */
  #fastEnd = 0;
  /** The low-water mark; the end once it is met. */
  #markAt = 0;
  #claimsPerLook = 1;
  #end = 0;

  #answer: Answer | undefined;
  #spares: Answer[] = [];
  /** IDs of the spare answers. */
  #spareCount = 0;

  /** Handed out of runs that are no longer in place. */
  #settledCount = 0;
  #reservedCount = 0;
  #droppedCount = 0;

  constructor({ policy, observer, onLowWater, onTooOld }: StockOptions) {
    this.#policy = policy;
    this.#observer = observer;
    this.#onLowWater = onLowWater;
    this.#onTooOld = onTooOld;
  }

  /** IDs at hand. */
  get count(): number {
    return this.#end - this.#next + (this.#answer?.leftCount ?? 0) + this.#spareCount;
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

  /** How many answers are spare. */
  get spareAnswerCount(): number {
    return this.#spares.length;
  }

  /** Whether the answer in use has been claimed from down to its low-water mark. */
  get isLow(): boolean {
    return this.#answer?.hasAsked === true;
  }

  /** Claims one ID; undefined if there is none. */
  claim(): bigint | undefined {
    const index = this.#next;
    if (index < this.#fastEnd) {
      this.#next = index + 1;
      return this.#firstId + BigInt(index) * this.#stride;
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

  /** Takes an answer in, behind those that are spare. */
  add(answer: Answer): void {
    this.#reservedCount += answer.count;
    this.#spares.push(answer);
    this.#spareCount += answer.leftCount;
  }

  /** Drops an answer that is in use or spare. Doing it again does nothing. */
  drop(answer: Answer): void {
    const isInUse = answer === this.#answer;
    if (!isInUse && !this.#spares.includes(answer)) return;
    answer.retire();
    const dropped = answer.leftCount + (isInUse ? this.#closeRun() : 0);
    if (isInUse) this.#answer = undefined;
    else this.#takeSpare(answer);
    this.#droppedCount += dropped;
    if (dropped > 0) notify(() => this.#observer.onExpire?.({ dropped }));
  }

  /** Drops all there is. */
  dropAll(): void {
    if (this.#answer !== undefined) this.drop(this.#answer);
    for (let spare = this.#spares[0]; spare !== undefined; spare = this.#spares[0]) this.drop(spare);
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
    if (this.#answer === undefined || this.#answer.hasAsked) return;
    this.#answer.hasAsked = true;
    this.#onLowWater();
  }

  /**
   * Sees to it that the run in place has IDs, and that they are young enough: after a pause of the process, claims come
   * before the timers. False if there is no stock.
   */
  #placeFreshRun(): boolean {
    for (;;) {
      while (this.#next >= this.#end) if (!this.#placeNextRun()) return false;
      if (this.#answer?.isTooOld !== true) return true;
      this.#onTooOld(this.#answer);
    }
  }

  /** Puts the next run of the stock in the place of one that is used up. */
  #placeNextRun(): boolean {
    let run = this.#answer?.takeRun();
    if (run === undefined) {
      this.#answer?.retire();
      this.#answer = this.#takeSpare(this.#spares[0]);
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
    this.#markAt = answer.hasAsked ? run.count : Math.min(run.count, Math.max(0, aboveMark));
    const claims = Math.floor((this.#policy.ratePerSecond * usePerLookMs) / 1_000);
    this.#claimsPerLook = Math.min(claimsPerLookMax, Math.max(1, claims));
    return true;
  }

  #takeSpare(answer: Answer | undefined): Answer | undefined {
    if (answer === undefined) return undefined;
    this.#spares.splice(this.#spares.indexOf(answer), 1);
    this.#spareCount -= answer.leftCount;
    return answer;
  }

  /** Ends the run in place, and tells how many of its IDs no caller will get. Doing it again does nothing. */
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
