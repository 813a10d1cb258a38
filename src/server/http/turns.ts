import type { Clock } from "../../clock/clock.ts";

/** How long the pieces of one turn may take, all together. A call of NextId takes some microseconds. */
const turnMs = 0.1;

/** Does one piece of a task. Returns whether there is more. Must not throw. */
export type Piece = () => boolean;

/**
 * Shares the event loop among the callers that ask for much. Their work is done in pieces, for {@link turnMs} in each
 * turn of the loop, one piece each in rotation. A caller that asks for little is served between two turns, and waits
 * for one at most. docs/adr/0100 says how long others waited without this.
 *
 * Example: a and b each ask for ten pieces of 0.03 ms, in one turn, a first.
 * - Nobody waits, so a's pieces are done at once while the turn has time: at 0, 0.03, 0.06 and 0.09 ms. The turn has
 *   then lasted 0.12 ms, one piece too long at most. b finds no time left, and waits behind a.
 * - Each later turn does a, b, a and b: another 0.12 ms. So a, which has six pieces left, ends with the third of them.
 * - b then has four pieces left, and the whole of the fourth turn.
 * - A call of NextId that arrives at any moment waits for one turn, 0.12 ms, and not for the 0.6 ms of both.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #waiting: Piece[] = [];
  #number = 0;
  #endsMs: number | undefined;
  #isPlanned = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of the current turn of the loop. */
  get number(): number {
    this.#plan();
    return this.#number;
  }

  /** Does as much as there is time for now, if no other task waits, and the rest in later turns. */
  take(piece: Piece): void {
    this.#plan();
    this.#endsMs ??= this.#clock.monotonicMs() + turnMs;
    if (this.#waiting.length === 0) {
      while (this.#hasTime) if (!piece()) return;
    }
    this.#waiting.push(piece);
  }

  get #hasTime(): boolean {
    return this.#clock.monotonicMs() < this.#endsMs!;
  }

  /** Notes that a turn has begun, unless that was noted before. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#number++;
    this.#endsMs = undefined;
    // Node handles the events of sockets between two of these.
    setImmediate(() => {
      this.#isPlanned = false;
      if (this.#waiting.length > 0) this.#resume();
    });
  }

  #resume(): void {
    this.#plan();
    this.#endsMs = this.#clock.monotonicMs() + turnMs;
    do {
      const piece = this.#waiting.shift()!;
      if (piece()) this.#waiting.push(piece);
    } while (this.#waiting.length > 0 && this.#hasTime);
  }
}
