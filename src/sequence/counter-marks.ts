import type { Clock } from "../clock/clock.ts";
import { type CounterKey, counterId, type Mark } from "./sequence-store.ts";

const keptForMs = 86_400_000;
/** The most marks; beyond it the one that was set longest ago goes. */
const marksMax = 1_000_000;

/**
 * How far this process has taken each counter: it shows that the database went back. A mark is kept for as long as
 * there is stock of its counter in memory, and for a day after it was set.
 */
export class CounterMarks {
  readonly #clock: Clock;
  /** In the order in which they were set. */
  readonly #marks = new Map<string, Mark & { readonly setMs: number }>();

  readonly #held = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Exclusive; undefined = none is known. */
  get(key: CounterKey): bigint | undefined {
    return this.#marks.get(counterId(key))?.index;
  }

  /** Sets a mark, also to a lower index: a give-back does that. */
  set(key: CounterKey, index: bigint): void {
    const id = counterId(key);
    const { name, periodKey } = key;
    this.#marks.delete(id);
    this.#marks.set(id, { name, periodKey, index, setMs: this.#clock.monotonicMs() });
    this.#dropOld();
  }

  /** Keeps the mark of a counter until {@link release}: values of it are, or may come, into memory. */
  hold(key: CounterKey): void {
    this.#held.add(counterId(key));
  }

  /** Lets a mark go a day after it was set. */
  release(key: CounterKey): void {
    this.#held.delete(counterId(key));
  }

  /** All of them, in order of their names. */
  all(): readonly Mark[] {
    this.#dropOld();
    return [...this.#marks.values()].toSorted((a, b) => (counterId(a) < counterId(b) ? -1 : 1));
  }

  #dropOld(): void {
    const keptFromMs = this.#clock.monotonicMs() - keptForMs;
    for (const [id, { setMs }] of this.#marks) {
      if (setMs >= keptFromMs && this.#marks.size <= marksMax) return;
      if (!this.#held.has(id)) this.#marks.delete(id);
    }
  }
}
