import type { Clock } from "../../clock/clock.ts";
import type { WorkerList, WorkerState } from "../../lease/worker-list.ts";

/** How old the counts shown by a scrape or a status may be. */
const staleMs = 60_000;

const states: readonly WorkerState[] = ["held", "released", "expired", "quarantined", "unreadable"];

/** How many worker IDs are in which state. The store is read in the background, so that no caller waits for it. */
export class WorkerTally {
  readonly #list: () => Promise<WorkerList>;
  readonly #clock: Clock;
  #counts: ReadonlyMap<string, number> = new Map();
  #neverHeld: number | undefined;
  #readMs: number | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(list: () => Promise<WorkerList>, clock: Clock) {
    this.#list = list;
    this.#clock = clock;
  }

  /**
   * The counts of the last read of the store, with worker IDs that have no record as `unused`; empty before the first
   * read.
   */
  counts(): ReadonlyMap<string, number> {
    this.#look();
    return this.#counts;
  }

  /** How many worker IDs no live holder ever had, by the last read; undefined before the first. */
  neverHeld(): number | undefined {
    this.#look();
    return this.#neverHeld;
  }

  /** The age of the counts; undefined before the first read. */
  get ageMs(): number | undefined {
    return this.#readMs === undefined ? undefined : this.#clock.monotonicMs() - this.#readMs;
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#askedMs >= staleMs) {
      this.#askedMs = nowMs;
      // The age of the counts shows that the store gave no answer, and other metrics say so at once.
      this.#list().then(
        (list) => this.#onList(list),
        () => undefined,
      );
    }
  }

  #onList({ workers, total, neverHeld }: WorkerList): void {
    const counts = new Map<string, number>(states.map((state) => [state, 0]));
    for (const { state } of workers) counts.set(state, counts.get(state)! + 1);
    this.#counts = counts.set("unused", Math.max(0, total - workers.length));
    this.#neverHeld = neverHeld;
    this.#readMs = this.#clock.monotonicMs();
  }
}
