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
  /** The first failure, and until the recovery each that says something else. */
  readonly onProblem: (during: string, error: IdError) => void;
  /** Everything that failed is answered again. */
  readonly onRecovery: () => void;
}

/** What fails together and comes back together: a full disk is read as before. */
type Ability = "read" | "write" | "lock";

/**
 * A failure that is older says no more what the store cannot do: whoever still wants it has tried again since.
 */
const failureAgeMaxMs = 30_000;

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
  /** Why, by what the store cannot do at the moment; the latest failure last. */
  readonly #failing = new Map<Ability, { readonly error: IdError; readonly atMs: number }>();
  /** Messages of failures that were told since the store last did all that it was asked for. */
  readonly #told = new Set<string>();
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

  /** Why the store does not do what it was asked for; undefined if it does, or nothing was asked. */
  get problem(): IdError | undefined {
    return [...this.#failing.values()].at(-1)?.error;
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
    const moment = await this.#watch("read", "moment", () => this.#store.moment());
    this.#note(moment);
    return moment;
  }

  async list(): Promise<ListAnswer> {
    const answer = await this.#watch("read", "list", () => this.#store.list());
    this.#note(answer.moment);
    return answer;
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const answer = await this.#watch("read", "read", () => this.#store.read(key));
    this.#note(answer.moment);
    return answer;
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const answer = await this.#watch("write", "compareAndSet", () => this.#store.compareAndSet(key, expected, next));
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
      tryLock: (key) => this.#watch("lock", "tryLock", () => liveness.tryLock(key)),
      unlock: (key) => this.#watch("lock", "unlock", () => liveness.unlock(key)),
    };
  }

  #note(moment: StoreMoment): void {
    this.#last = { moment, atMs: this.#clock.monotonicMs() };
    this.#observer.onMoment(moment);
  }

  async #watch<T>(ability: Ability, during: string, call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.#onAnswer(ability, answer);
      return answer;
    } catch (cause) {
      const error = asStoreError(cause, this.kind);
      this.#failing.delete(ability);
      this.#failing.set(ability, { error, atMs: this.#clock.monotonicMs() });
      if (!this.#told.has(error.message)) this.#observer.onProblem(during, error);
      this.#told.add(error.message);
      throw error;
    }
  }

  #onAnswer(ability: Ability, answer: unknown): void {
    if (this.#failing.size === 0) return;
    // A conflict was found by reading alone. What was written was read and locked before, if it had to be.
    const isConflict = ability === "write" && (answer as WriteAnswer).kind === "conflict";
    if (isConflict) this.#failing.delete("read");
    else if (ability === "write") this.#failing.clear();
    else this.#failing.delete(ability);
    const oldestMs = this.#clock.monotonicMs() - failureAgeMaxMs;
    for (const [other, { atMs }] of this.#failing) if (atMs < oldestMs) this.#failing.delete(other);
    if (this.#failing.size > 0) return;
    this.#told.clear();
    this.#observer.onRecovery();
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
