import { IdError } from "../../../src/errors.ts";
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
} from "../../../src/store/record-store.ts";
import type { MemoryStore } from "./memory-store.ts";

/** The fault of one call on its way. */
export type Fault =
  | "none"
  /** It never arrives, and its sender gets no answer. */
  | "lost"
  /** Its sender is told that it is refused: a write that did not happen. */
  | "refused"
  /** Its sender is told that only an operator can help: INVALID_CONFIG. */
  | "barred"
  /** It is carried out, but its sender gets no answer. */
  | "answer-lost"
  /** Its sender gets no answer now, and it is carried out later: see {@link FaultyStore.deliverLate}. */
  | "late"
  /** It waits until {@link FaultyStore.resume}, then is carried out and answered. */
  | "held";

/** A call that is about to be made. */
export interface FaultyCall {
  readonly kind: "moment" | "list" | "read" | "compareAndSet";
  readonly key: RecordKey | undefined;
}

/** A store behind a bad network. What happens to each call is decided by `fault`, which a test sets. */
export class FaultyStore implements RecordStore {
  readonly kind: string;
  readonly durability: "durable" | "lossy";
  readonly readsMayBeUndone: boolean;
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  fault: (call: FaultyCall) => Fault = () => "none";
  /** Called after a write was carried out, before its answer is on its way. */
  onWritten: (key: RecordKey) => void = () => {};
  /** Calls made so far, faulty or not. */
  readonly calls: FaultyCall[] = [];
  readonly #store: MemoryStore;
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #held: (() => void)[] = [];
  #isDead = false;

  constructor(store: MemoryStore) {
    this.kind = store.kind;
    this.durability = store.durability;
    this.readsMayBeUndone = store.readsMayBeUndone;
    this.liveness = store.liveness;
    this.timing = store.timing;
    this.#store = store;
  }

  /** Its process is gone: whatever was sent may arrive, and no answer ever comes. */
  kill(): void {
    this.#isDead = true;
    this.#store.dropLocks();
  }

  /** Carries out what was late, in order of sending. */
  async deliverLate(): Promise<void> {
    for (const deliver of this.#late.splice(0)) await deliver();
  }

  /** Lets go what was held. */
  resume(): void {
    for (const go of this.#held.splice(0)) go();
  }

  moment(): Promise<StoreMoment> {
    return this.#pass({ kind: "moment", key: undefined }, () => this.#store.moment());
  }

  list(): Promise<ListAnswer> {
    return this.#pass({ kind: "list", key: undefined }, () => this.#store.list());
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#pass({ kind: "read", key }, () => this.#store.read(key));
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const write = async (): Promise<WriteAnswer> => {
      const answer = await this.#store.compareAndSet(key, expected, next);
      this.onWritten(key);
      return answer;
    };
    const error = new IdError("STORE_UNAVAILABLE", `the write of ${key} is refused`);
    return this.#pass({ kind: "compareAndSet", key }, write, { kind: "refused", error });
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #pass<T>(call: FaultyCall, work: () => Promise<T>, refusal?: T): Promise<T> {
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault === "barred") throw new IdError("INVALID_CONFIG", "the store refuses us");
    if (fault === "refused" && refusal !== undefined) return refusal;
    if (fault === "held") await new Promise<void>((resolve) => this.#held.push(resolve));
    if (fault === "late") this.#late.push(work);
    if (fault === "none" || fault === "held" || fault === "answer-lost") {
      const answer = await work();
      if (this.#isDead) return await new Promise(() => {});
      if (fault !== "answer-lost") return answer;
    }
    throw new IdError("STORE_UNAVAILABLE", `no answer to ${call.kind} ${call.key ?? ""}`);
  }
}
