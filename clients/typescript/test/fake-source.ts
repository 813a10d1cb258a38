import type { Clock } from "../src/clock.ts";
import type { CallOptions, IdRun, RunSource } from "../src/run-source.ts";

/** Reserves from one rising counter, as a server does, and remembers what it was asked. */
export class FakeSource implements RunSource {
  readonly #clock: Clock;
  readonly asked: number[] = [];
  /** How many reservations are under way, and the most that ever were. */
  underWay = 0;
  underWayMax = 0;
  /** How long an answer takes. */
  delayMs = 0;
  /** Answers in place of the counter's. */
  answer: ((count: number) => readonly IdRun[]) | undefined;
  /** The counter's answer is cut into runs of this many IDs. */
  runCountMax = Infinity;
  #next: bigint;
  readonly #stride: bigint;

  constructor(clock: Clock, { first = 1n, stride = 1n } = {}) {
    this.#clock = clock;
    this.#next = first;
    this.#stride = stride;
  }

  async reserve(count: number, options: CallOptions = {}): Promise<readonly IdRun[]> {
    this.asked.push(count);
    this.underWayMax = Math.max(this.underWayMax, ++this.underWay);
    try {
      if (this.delayMs > 0) {
        await new Promise<void>((resolve, reject) => {
          this.#clock.schedule(this.delayMs, resolve, "keeps process");
          options.signal?.addEventListener("abort", () => reject(new Error("aborted")));
        });
      }
      return this.answer === undefined ? this.#count(count) : this.answer(count);
    } finally {
      this.underWay--;
    }
  }

  #count(count: number): readonly IdRun[] {
    const runs: IdRun[] = [];
    for (let left = count; left > 0; ) {
      const size = Math.min(left, this.runCountMax);
      runs.push({ firstId: this.#next, count: size, stride: this.#stride });
      this.#next += BigInt(size) * this.#stride;
      left -= size;
    }
    return runs;
  }
}
