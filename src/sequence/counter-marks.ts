import type { Clock } from "../clock/clock.ts";
import { type CounterKey, counterId, type Mark } from "./sequence-store.ts";

const keptForMs = 86_400_000;
/** The most marks; beyond that number the one that was set longest ago is dropped. */
const marksMax = 1_000_000;

/** The consecutive takes that end at the mark, and the end of the takes before them. */
interface Taken {
  /** The mark. */
  readonly index: bigint;
  readonly startIndex: bigint;
  readonly belowIndex: bigint;
}

/**
 * How far this process has taken each counter: a counter below its mark shows that the database went back. A mark is
 * kept while stock of its counter is in memory, and for a day after it was set.
 */
export class CounterMarks {
  readonly #clock: Clock;
  /** In the order in which they were set. */
  readonly #marks = new Map<string, Mark & Taken & { readonly setMs: number }>();

  readonly #held = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The mark of a counter, exclusive; undefined if none is known. */
  get(key: CounterKey): bigint | undefined {
    return this.#marks.get(counterId(key))?.index;
  }

  /** Notes a take: the mark is its end. */
  take(key: CounterKey, firstIndex: bigint, endIndex: bigint): void {
    const known = this.#marks.get(counterId(key));
    const isNext = known?.index === firstIndex;
    const startIndex = isNext ? known.startIndex : firstIndex;
    const belowIndex = isNext ? known.belowIndex : (known?.index ?? 0n);
    this.#set(key, { index: endIndex, startIndex, belowIndex });
  }

  /**
   * Notes that everything from an index on is given back, so the mark is lowered to it. If nothing of the last takes is
   * kept, the mark is the end of the takes before them: other processes' ranges lie between the two, and may be given
   * back as well.
   */
  giveBack(key: CounterKey, firstIndex: bigint): void {
    const { startIndex, belowIndex } = this.#marks.get(counterId(key)) ?? { startIndex: 0n, belowIndex: 0n };
    if (firstIndex > startIndex) return this.#set(key, { index: firstIndex, startIndex, belowIndex });
    const index = belowIndex < firstIndex ? belowIndex : firstIndex;
    this.#set(key, { index, startIndex: 0n, belowIndex: 0n });
  }

  /** Keeps the mark of a counter until {@link forget}: values of it are, or may come, into memory. */
  remember(key: CounterKey): void {
    this.#held.add(counterId(key));
  }

  /** Lets a mark be dropped a day after it was set. */
  forget(key: CounterKey): void {
    this.#held.delete(counterId(key));
  }

  #set(key: CounterKey, taken: Taken): void {
    const { name, periodKey } = key;
    this.#marks.delete(counterId(key));
    this.#marks.set(counterId(key), { name, periodKey, ...taken, setMs: this.#clock.monotonicMs() });
    this.#dropOld();
  }

  /** All marks, in order of their names. */
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
