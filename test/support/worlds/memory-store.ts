import { IdError } from "../../../src/errors.ts";
import type {
  Entry,
  Incarnation,
  ListAnswer,
  Liveness,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreTiming,
  WriteAnswer,
} from "../../../src/store/record-store.ts";

/** How a {@link MemoryDatabase} behaves. */
export interface MemoryDatabaseOptions {
  readonly durability?: "durable" | "lossy";
  readonly liveness?: "ttl" | "lock";
  readonly timing?: Partial<StoreTiming>;
  /** The store's clock; absent = it has none. */
  readonly clockMs?: () => number;
  readonly emptyMeans?: "new" | "lost";
  readonly readsMayBeUndone?: boolean;
  /** Whether answers show how far its log has come. */
  readonly hasPosition?: boolean;
}

const defaultTiming: StoreTiming = { windowMs: 10_000, renewalPeriodMs: 2_000, ttlMs: 13_000 };

/**
 * What lies behind memory stores: the "server". Each handle on it is a RecordStore of its own. Tests change its fields
 * to make faults.
 */
export class MemoryDatabase {
  readonly options: MemoryDatabaseOptions;
  /** Key to text. */
  readonly records = new Map<RecordKey, string>();
  /** Key to the handle that has the lock. */
  readonly locks = new Map<RecordKey, RecordStore>();
  incarnation: Incarnation;
  /** Counts the writes that were applied. */
  position = 0n;

  constructor(options: MemoryDatabaseOptions = {}) {
    this.options = options;
    this.incarnation = { identity: "system=memory-1", startedMs: undefined, emptyMeans: options.emptyMeans ?? "new" };
  }

  /** Opens a handle. */
  open(): MemoryStore {
    return new MemoryStore(this);
  }

  moment(): StoreMoment {
    const position = this.options.hasPosition ? { position: { log: "memory", at: this.position } } : {};
    return { clockMs: this.options.clockMs?.(), incarnation: this.incarnation, ...position };
  }

  entry(key: RecordKey): Entry | undefined {
    const text = this.records.get(key);
    return text === undefined ? undefined : { key, text };
  }

  /** The compare and the set, in one step. */
  write(key: RecordKey, expected: Entry | undefined, next: string): WriteAnswer {
    if (this.records.get(key) !== expected?.text) return { kind: "conflict", moment: this.moment() };
    this.records.set(key, next);
    this.position += 1n;
    return { kind: "applied", entry: { key, text: next }, moment: this.moment() };
  }
}

/** A RecordStore on a {@link MemoryDatabase}. */
export class MemoryStore implements RecordStore {
  readonly kind = "memory";
  readonly durability: "durable" | "lossy";
  readonly readsMayBeUndone: boolean;
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  readonly #database: MemoryDatabase;
  #closed = false;

  constructor(database: MemoryDatabase) {
    this.#database = database;
    this.durability = database.options.durability ?? "durable";
    this.readsMayBeUndone = database.options.readsMayBeUndone ?? false;
    this.liveness = database.options.liveness === "lock" ? this.#locks() : { kind: "ttl" };
    this.timing = { ...defaultTiming, ...database.options.timing };
  }

  async moment(): Promise<StoreMoment> {
    this.#checkOpen();
    return this.#database.moment();
  }

  async list(): Promise<ListAnswer> {
    this.#checkOpen();
    const entries = [...this.#database.records].map(([key, text]) => ({ key, text }));
    return { entries, moment: this.#database.moment() };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    this.#checkOpen();
    return { entry: this.#database.entry(key), moment: this.#database.moment() };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    this.#checkOpen();
    return this.#database.write(key, expected, next);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.dropLocks();
  }

  /** What the death of the process does. Writes that were sent before may still arrive. */
  dropLocks(): void {
    for (const [key, holder] of this.#database.locks) if (holder === this) this.#database.locks.delete(key);
  }

  #checkOpen(): void {
    if (this.#closed) throw new IdError("STORE_UNAVAILABLE", "The store is closed.");
  }

  #locks(): Liveness {
    const { locks } = this.#database;
    return {
      kind: "lock",
      tryLock: async (key) => {
        this.#checkOpen();
        if (!locks.has(key)) locks.set(key, this);
        return locks.get(key) === this;
      },
      unlock: async (key) => {
        if (locks.get(key) === this) locks.delete(key);
      },
    };
  }
}
