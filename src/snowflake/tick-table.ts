import { assert } from "../assert.ts";

/**
 * Remembers the next unused sequence number of each of the last `span` ticks. The policy `reuse` needs it to go back
 * with the clock.
 *
 * One slot for each remainder of the tick by the span. A slot leaves tick t only for t + k * span, and from then on t
 * is at least a whole span below the highest tick, where nothing may be entered again. So no pair of tick and sequence
 * number is issued twice.
 *
 * It is not a ring of "the last ID of each slot, plus one": adding one there can overflow into the time field of the
 * slot's old tick, and repeat what another slot has issued, even with a steady clock.
 */
export class TickTable {
  readonly #ticks: Float64Array;
  /** Numbers up to 2^32, one more than a sequence can be. */
  readonly #nexts: Float64Array;
  readonly #span: number;
  #topTick = -1;

  /** @param span - How many ticks below the highest can still be entered, itself included. */
  constructor(span: number) {
    this.#span = span;
    this.#ticks = new Float64Array(span).fill(-1);
    this.#nexts = new Float64Array(span);
  }

  /** Forgets everything: another grant begins. */
  clear(): void {
    this.#ticks.fill(-1);
    this.#topTick = -1;
  }

  /** The next unused sequence number of a tick; undefined if it was never entered. */
  next(tick: number): number | undefined {
    this.#checkSpan(tick);
    const slot = tick % this.#span;
    return this.#ticks[slot] === tick ? this.#nexts[slot] : undefined;
  }

  /** Notes that all sequence numbers of `tick` below `next` are used. */
  note(tick: number, next: number): void {
    this.#checkSpan(tick);
    const slot = tick % this.#span;
    this.#ticks[slot] = tick;
    this.#nexts[slot] = next;
    if (tick > this.#topTick) this.#topTick = tick;
  }

  #checkSpan(tick: number): void {
    assert(
      tick > this.#topTick - this.#span,
      () => `I3: tick ${tick} is ${this.#span} or more below the highest, ${this.#topTick}`,
    );
  }
}
