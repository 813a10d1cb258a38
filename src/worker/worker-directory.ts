import type { Clock } from "../clock/clock.ts";
import type { RecordStore } from "../store/record-store.ts";
import { listWorkers, type WorkerList } from "../lease/worker-list.ts";

/**
 * How long one read of the store serves all callers, so that a page that many people watch costs it one call a second.
 */
const sharedMs = 1_000;

/** Looks up all worker IDs of a store, for all callers together, at most once a second. */
export class WorkerDirectory {
  readonly #store: RecordStore;
  readonly #clock: Clock;
  #last: { readonly list: Promise<WorkerList>; readonly atMs: number } | undefined;

  constructor(store: RecordStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * All worker IDs, at most a second old. A failure is shared like an answer.
   *
   * @throws IdError as the store does; INVALID_CONFIG for records that are not Snowlane's.
   */
  list(): Promise<WorkerList> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last === undefined || nowMs - this.#last.atMs >= sharedMs) {
      this.#last = { list: this.#look(), atMs: nowMs };
    }
    return this.#last.list;
  }

  async #look(): Promise<WorkerList> {
    return listWorkers(this.#store, await this.#store.list(), this.#clock.nowMs());
  }
}
