import type { Clock } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import type {
  Entry,
  ListAnswer,
  Liveness,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StorePosition,
  StoreTiming,
  WriteAnswer,
} from "../store/record-store.ts";

/** Receives the events of an {@link ObservedStore}. */
export interface StoreObserver {
  readonly onMoment: (moment: StoreMoment) => void;
  /** An answer showed an older position of the store's log than one that came before the call was sent. */
  readonly onOlderPosition: () => void;
  /** The first failure, and each later one with a new message until the recovery. */
  readonly onProblem: (during: string, error: IdError) => void;
  /** Every operation that failed works again, `forMs` after the first of them failed. */
  readonly onRecovery: (forMs: number) => void;
}

/** Operations that fail and recover together: a store on a full disk can still be read. */
type Ability = "read" | "write" | "lock";

/**
 * An older failure no longer shows what the store cannot do: a caller that still needs the operation has retried since.
 */
const failureAgeMaxMs = 30_000;

/**
 * Wraps a store: remembers whether it answers and what its clock showed, and turns each error that it throws into an
 * IdError.
 */
export class ObservedStore implements RecordStore {
  readonly kind: string;
  readonly durability: "durable" | "lossy";
  readonly readsMayBeUndone: boolean;
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #observer: StoreObserver;
  /** The present failures, by the ability that the store lacks; the latest is last. */
  readonly #failing = new Map<Ability, { readonly error: IdError; readonly atMs: number }>();
  /** Monotonic time of the first failure since the store last answered everything. */
  #failingFromMs: number | undefined;
  /** Messages of the failures that were reported since the store last answered everything. */
  readonly #told = new Set<string>();
  /** The highest position that was answered. */
  #position: StorePosition | undefined;
  #last: { readonly moment: StoreMoment; readonly atMs: number } | undefined;

  constructor(store: RecordStore, clock: Clock, observer: StoreObserver) {
    this.kind = store.kind;
    this.durability = store.durability;
    this.readsMayBeUndone = store.readsMayBeUndone ?? false;
    this.liveness = this.#watchLiveness(store.liveness);
    this.timing = store.timing;
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** The latest error among the operations that fail at present; undefined if none fails. */
  get problem(): IdError | undefined {
    return [...this.#failing.values()].at(-1)?.error;
  }

  /** Since when an operation has failed, in monotonic time; undefined if none fails. */
  get failingFromMs(): number | undefined {
    return this.#failingFromMs;
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
    return await this.#noted(
      "read",
      "moment",
      () => this.#store.moment(),
      (moment) => moment,
    );
  }

  async list(): Promise<ListAnswer> {
    return await this.#noted(
      "read",
      "list",
      () => this.#store.list(),
      ({ moment }) => moment,
    );
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    return await this.#noted(
      "read",
      "read",
      () => this.#store.read(key),
      ({ moment }) => moment,
    );
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const write = (): Promise<WriteAnswer> => this.#store.compareAndSet(key, expected, next);
    return await this.#noted("write", "compareAndSet", write, momentOfWrite);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Takes note of a position, and returns whether it is lower than the one that was known before its call was sent. */
  #isOlder(position: StorePosition, before: StorePosition | undefined): boolean {
    const { log, at } = position;
    const isOlder = before?.log === log && at < before.at;
    // Answers may overtake each other: the highest counts, until the store shows that it went back.
    const highest = this.#position?.log === log && !isOlder ? this.#position.at : at;
    this.#position = at >= highest ? position : this.#position;
    return isOlder;
  }

  #watchLiveness(liveness: Liveness): Liveness {
    if (liveness.kind === "ttl") return liveness;
    return {
      kind: "lock",
      tryLock: (key) => this.#watch("lock", "tryLock", () => liveness.tryLock(key)),
      unlock: (key) => this.#watch("lock", "unlock", () => liveness.unlock(key)),
    };
  }

  /** Makes a call, and notes the moment of its answer. */
  async #noted<T>(
    ability: Ability,
    during: string,
    call: () => Promise<T>,
    momentIn: (answer: T) => StoreMoment | undefined,
  ): Promise<T> {
    const before = this.#position;
    const answer = await this.#watch(ability, during, call);
    const moment = momentIn(answer);
    if (moment === undefined) return answer;
    this.#last = { moment, atMs: this.#clock.monotonicMs() };
    if (moment.position !== undefined && this.#isOlder(moment.position, before)) this.#observer.onOlderPosition();
    this.#observer.onMoment(moment);
    return answer;
  }

  async #watch<T>(ability: Ability, during: string, call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      const refused = ability === "write" && (answer as WriteAnswer).kind === "refused";
      if (refused) this.#onFailure(ability, during, (answer as Extract<WriteAnswer, { kind: "refused" }>).error);
      else this.#onAnswer(ability, answer);
      return answer;
    } catch (cause) {
      const error = asStoreError(cause, this.kind);
      this.#onFailure(ability, during, error);
      throw error;
    }
  }

  #onFailure(ability: Ability, during: string, error: IdError): void {
    const atMs = this.#clock.monotonicMs();
    this.#failingFromMs ??= atMs;
    this.#failing.delete(ability);
    this.#failing.set(ability, { error, atMs });
    if (!this.#told.has(error.message)) this.#observer.onProblem(during, error);
    this.#told.add(error.message);
  }

  #onAnswer(ability: Ability, answer: unknown): void {
    if (this.#failing.size === 0) return;
    // A conflict was found by reading alone. A write has read and locked the record before, if that was necessary.
    const isConflict = ability === "write" && (answer as WriteAnswer).kind === "conflict";
    if (isConflict) this.#failing.delete("read");
    else if (ability === "write") this.#failing.clear();
    else this.#failing.delete(ability);
    const nowMs = this.#clock.monotonicMs();
    const oldestMs = nowMs - failureAgeMaxMs;
    for (const [other, { atMs }] of this.#failing) if (atMs < oldestMs) this.#failing.delete(other);
    if (this.#failing.size > 0) return;
    const forMs = nowMs - (this.#failingFromMs ?? nowMs);
    this.#failingFromMs = undefined;
    this.#told.clear();
    this.#observer.onRecovery(forMs);
  }
}

function momentOfWrite(answer: WriteAnswer): StoreMoment | undefined {
  return answer.kind === "refused" ? undefined : answer.moment;
}

/** An error of a store as an IdError: any other error counts as STORE_UNAVAILABLE. */
export function asStoreError(cause: unknown, kind: string): IdError {
  if (cause instanceof IdError) return cause;
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new IdError("STORE_UNAVAILABLE", `The ${kind} store failed: ${problem}`, { cause, metadata: { store: kind } });
}

/**
 * Whether the store reports that the place of its records is gone or replaced. After any other error of a write the
 * outcome is open: it may have landed, or may still land.
 */
export function isRegression(cause: unknown): boolean {
  return cause instanceof IdError && cause.reason === "STORE_WENT_BACK";
}
