/**
 * The contract of a record store: the durable place on which uniqueness rests.
 *
 * A store keeps small texts under keys and does one thing: compare and set. It knows nothing of leases, marks, time
 * windows or layouts; the protocol stands once above it (worker-holder.ts), and for every store it is the same. What
 * differs between stores is said by values: whether they have a clock, whether they may lose data, how a dead holder
 * shows.
 *
 * ## What every store must do
 * 1. **compareAndSet is linearizable and durable.** `applied` means: the record was what `expected` says at the moment
 *    of the write, `next` is there now, and it survives the crash of any one machine as far as the store can promise.
 *    `conflict` means: this write did not happen and never will. No answer, or an answer that cannot be trusted, is
 *    thrown: the write may have happened, may happen later, or never. A driver never repeats a write by itself.
 * 2. **`expected` is what was read.** An entry carries a version that only the store understands: the value itself in
 *    SQL, the revision in etcd, the znode version in ZooKeeper, the resourceVersion in Kubernetes. `undefined` = the
 *    key must be absent.
 * 3. **Records are never deleted** and hang on no session, lease or expiry: a mark must outlive its holder.
 * 4. **read and list are as fresh as the last write** of anyone that was answered before they were sent.
 * 5. **Every answer carries the store's moment**: clock and incarnation as they were when the operation took effect, or
 *    read after it in the same call; never from before it. A change of incarnation between two answers is how a loss of
 *    data shows.
 * 6. **Every call ends** within the deadline that was given at opening: it answers or throws. A frozen server is cut
 *    off, its connection destroyed.
 *
 * ## What a store may throw
 * An {@link IdError}. `STORE_UNAVAILABLE`: nothing is known of the outcome, try again. `INVALID_CONFIG`: only an
 * operator can help (refused credentials, a foreign file, a read-only folder). `STORE_WENT_BACK`: the place that held
 * the records is gone or is another one (a file deleted or replaced while it was open): the caller's grant ends at
 * once. Anything else that is thrown counts as `STORE_UNAVAILABLE`.
 *
 * ## What a store need not do
 * Bounds on marks are checked above it, from the moment that each answer carries; so it needs no knowledge of what a
 * record says.
 */

/**
 * Key of a record: `layout`, `incarnation`, `quarantine`, or `worker-` and a number. Lower-case letters, digits and
 * hyphens only.
 */
export type RecordKey = string;

/** A record as the store had it. Handed back as `expected`; only the store looks into `version`. */
export interface Entry {
  readonly key: RecordKey;
  /** ASCII, at most 1,024 bytes (worker records: 512). */
  readonly text: string;
  /** Whatever the store compares: the text, a revision, a version number. */
  readonly version: unknown;
}

/**
 * Which life of the store answered. A restart, a restored backup or another server is another incarnation, as far as
 * the store can tell.
 */
export interface Incarnation {
  /**
   * Whose data this is; compared exactly. Redis: run_id. PostgreSQL: system identifier, timeline and the table's object
   * ID. MySQL: server_uuid. etcd: cluster ID. ZooKeeper: epoch. SQLite: an ID drawn when the file was made. Printable
   * ASCII, 1 to 200 characters.
   */
  readonly identity: string;
  /**
   * When the server started: Unix milliseconds by its own clock; compared exactly, so it must be the same in every
   * answer of one life (a start that is worked out of a clock and an uptime wavers, and must not be given). undefined
   * where the identity covers restarts, or a restart cannot lose data.
   */
  readonly startedMs: number | undefined;
  /**
   * What it means if the store holds no record at all. `new`: nothing was ever here, so nothing was lost. `lost`: that
   * cannot be told from a loss (Redis after FLUSHALL; a file that is new beside traces of an older one), so new grants
   * wait out the quarantine.
   */
  readonly emptyMeans: "new" | "lost";
}

/** When and in which life of the store something was answered. */
export interface StoreMoment {
  /**
   * The store's own wall clock, Unix milliseconds; undefined where it has none to give (etcd, ZooKeeper, Kubernetes; a
   * local file).
   */
  readonly clockMs: number | undefined;
  readonly incarnation: Incarnation;
}

/** Answer to read. */
export interface ReadAnswer {
  /** undefined: the key is absent. */
  readonly entry: Entry | undefined;
  readonly moment: StoreMoment;
}

/** Answer to list. */
export interface ListAnswer {
  /**
   * All records of the namespace, in any order. Each is as it was at some instant of the call; not a snapshot of them
   * all.
   */
  readonly entries: readonly Entry[];
  readonly moment: StoreMoment;
}

/** Answer to compareAndSet. No answer is thrown: see above. */
export type WriteAnswer =
  | {
      readonly kind: "applied" /** As it stands now: the next `expected`. */;
      readonly entry: Entry;
      readonly moment: StoreMoment;
    }
  | { readonly kind: "conflict"; readonly moment: StoreMoment };

/** How the death of a holder shows. */
export type Liveness =
  /** `expiresAt` in the record decides, by the store's clock if it has one. */
  | { readonly kind: "ttl" }
  /** A record is free when its lock can be taken; `expiresAt` is 0 and unused. A lock dies with its process. */
  | {
      readonly kind: "lock";
      /** Takes the lock of a worker record without waiting; true also when this store object has it already. */
      readonly tryLock: (key: RecordKey) => Promise<boolean>;
      /** Gives it back; nothing happens if it is not held. */
      readonly unlock: (key: RecordKey) => Promise<void>;
    };

/** What the protocol takes where nothing else is set. */
export interface StoreTiming {
  /** Window: how far ahead time is reserved. Also the default of the layout record's windowMaxMs. */
  readonly windowMs: number;
  /** Between two renewals. */
  readonly renewalPeriodMs: number;
  /**
   * From a write to expiresAt; 0 with `lock`. At least the window, plus the lead, plus twice the clock error: 3 s more
   * than the window.
   */
  readonly ttlMs: number;
}

/** Keeps the records of one namespace. See the head of this file for what it owes. */
export interface RecordStore {
  /** The scheme of its URL, for logs and status: `sqlite`, `postgres`, ... */
  readonly kind: string;
  /**
   * `lossy`: an answered write may be undone by a crash of the store (Redis). Records that were not released are then
   * taken over later.
   */
  readonly durability: "durable" | "lossy";
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  /** Asks for the moment alone: the store's clock as a second opinion, and its incarnation. */
  moment(): Promise<StoreMoment>;
  list(): Promise<ListAnswer>;
  read(key: RecordKey): Promise<ReadAnswer>;
  /**
   * Writes `next` if the record still is `expected`.
   *
   * @param expected - What was read or written last, of the same key; undefined = absent.
   * @throws IdError: the outcome is unknown (see the head of this file).
   */
  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer>;
  /** Gives up connections, locks and threads. Calls after it throw STORE_UNAVAILABLE; a second close does nothing. */
  close(): Promise<void>;
}

/** What every store is opened with. */
export interface StoreOptions {
  /** One set of records: lower-case letters, digits and hyphens, 1 to 63 characters, a letter or digit at both ends. */
  readonly namespace: string;
  /** Longest time that one call may take. */
  readonly callTimeoutMs: number;
  /** For a store that asks for one, where its URL names none. Never logged. */
  readonly password?: string | undefined;
  /**
   * What to do where nothing was ever kept: no file, no table, no znode. `create` (default) makes it; `refuse` throws
   * INVALID_CONFIG, for those who only look.
   */
  readonly whereNew?: "create" | "refuse" | undefined;
}

/** Tells whether two answers came from one life of the store. */
export function sameIncarnation(one: Incarnation, other: Incarnation): boolean {
  return one.identity === other.identity && one.startedMs === other.startedMs;
}
