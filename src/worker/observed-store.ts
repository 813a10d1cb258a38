import type { Clock } from "../clock.ts";
import { IdError } from "../errors.ts";
import type {
  Entry,
  ListAnswer,
  Liveness,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreTiming,
  WriteAnswer,
} from "./record-store.ts";

/** Who wants to know what the store answers. */
export interface StoreObserver {
  readonly onMoment: (moment: StoreMoment) => void;
  /** The first failure after an answer, and each that differs from the one before. */
  readonly onProblem: (during: string, error: IdError) => void;
  /** The first answer after a failure. */
  readonly onRecovery: () => void;
}

/**
 * A store seen through a window: remembers whether it answers and what its clock said, and turns whatever it throws
 * into an IdError.
 */
export class ObservedStore implements RecordStore {
  readonly kind: string;
  readonly durability: "durable" | "lossy";
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #observer: StoreObserver;
  #problem: IdError | undefined;
  #last: { readonly moment: StoreMoment; readonly atMs: number } | undefined;

  constructor(store: RecordStore, clock: Clock, observer: StoreObserver) {
    this.kind = store.kind;
    this.durability = store.durability;
    this.liveness = this.#watchLiveness(store.liveness);
    this.timing = store.timing;
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Why the last call failed; undefined if it was answered, or none was made. */
  get problem(): IdError | undefined {
    return this.#problem;
  }

  /** Monotonic time of the last answer. */
  get lastAnswerMs(): number | undefined {
    return this.#last?.atMs;
  }

  /**
   * The store's clock now, as its last answer and the monotonic clock give it; undefined where it has none or never
   * answered.
   */
  clockMs(): number | undefined {
    const clockMs = this.#last?.moment.clockMs;
    return clockMs === undefined ? undefined : Math.floor(clockMs + this.#clock.monotonicMs() - this.#last!.atMs);
  }

  async moment(): Promise<StoreMoment> {
    const moment = await this.#watch("moment", () => this.#store.moment());
    this.#note(moment);
    return moment;
  }

  async list(): Promise<ListAnswer> {
    const answer = await this.#watch("list", () => this.#store.list());
    this.#note(answer.moment);
    return answer;
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const answer = await this.#watch("read", () => this.#store.read(key));
    this.#note(answer.moment);
    return answer;
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const answer = await this.#watch("compareAndSet", () => this.#store.compareAndSet(key, expected, next));
    this.#note(answer.moment);
    return answer;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #watchLiveness(liveness: Liveness): Liveness {
    if (liveness.kind === "ttl") return liveness;
    return {
      kind: "lock",
      tryLock: (key) => this.#watch("tryLock", () => liveness.tryLock(key)),
      unlock: (key) => this.#watch("unlock", () => liveness.unlock(key)),
    };
  }

  #note(moment: StoreMoment): void {
    this.#last = { moment, atMs: this.#clock.monotonicMs() };
    this.#observer.onMoment(moment);
  }

  async #watch<T>(during: string, call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      if (this.#problem !== undefined) this.#observer.onRecovery();
      this.#problem = undefined;
      return answer;
    } catch (cause) {
      const error = asStoreError(cause, this.kind);
      if (error.message !== this.#problem?.message) this.#observer.onProblem(during, error);
      this.#problem = error;
      throw error;
    }
  }
}

/** What a store threw, as an IdError: anything that is none counts as STORE_UNAVAILABLE. */
export function asStoreError(cause: unknown, kind: string): IdError {
  if (cause instanceof IdError) return cause;
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new IdError("STORE_UNAVAILABLE", `The ${kind} store failed: ${problem}`, { cause, metadata: { store: kind } });
}

/**
 * Tells whether the store says that the place of its records is gone or another one. Everything else that a write
 * throws leaves its outcome open: it may have landed, or may still.
 */
export function wentBack(cause: unknown): boolean {
  return cause instanceof IdError && cause.reason === "STORE_WENT_BACK";
}
