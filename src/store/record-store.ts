/**
 * The contract of a record store: the durable place on which uniqueness depends.
 *
 * A store keeps small texts under keys and does one thing: compare and set. It knows nothing of leases, marks, time
 * windows or layouts: the protocol (src/lease/) is the same for every store. Values of the contract describe how stores
 * differ: whether they have a clock, whether they may lose data, and how a dead holder is recognized.
 *
 * ## Duties of every store
 * 1. **compareAndSet is linearizable and durable.** `applied` means: the record was what `expected` says at the moment
 *    of the write, `next` is there now, and it survives the crash of any one machine as far as the store can promise.
 *    `conflict` means: this write did not happen and never will. `refused` means the same, and that the server takes no
 *    such write at present; a driver decides this only by a list of error codes of the write itself. No answer, an
 *    answer that cannot be trusted, or an error of anything after the write, is thrown: the write may have happened,
 *    may happen later, or never. A driver never repeats a write by itself.
 * 2. **`expected` is what was read**, and the store compares its text with the present one, byte for byte. `undefined`
 *    = the key must be absent. A version or revision of the store never decides alone, because its numbers repeat when
 *    an older copy is put back. A record's text has 128 random bits of its last write.
 * 3. **Records are never deleted** and depend on no session, lease or expiry: a mark must outlive its holder.
 * 4. **read and list are as fresh as the last write** of any process that was answered before they were sent.
 * 5. **Every answer carries the store's moment**: clock and incarnation as they were when the operation took effect, or
 *    read after it in the same call; never from before it. A loss of data is noticed by a change of incarnation between
 *    two answers.
 * 6. **Every call ends** within the deadline that was given at opening: it answers or throws. If nothing has worked for
 *    six deadlines, no process can hold a grant, and a call may take 5 s more to connect. A frozen server is cut off,
 *    its connection destroyed.
 *
 * ## Errors of a store An {@link IdError}. `STORE_UNAVAILABLE`: the outcome is not known, try again. `INVALID_CONFIG`:
 * only an operator can help (refused credentials, a foreign file, a read-only folder). `STORE_WENT_BACK`: the place
 * that held the records is gone or is another one (a file deleted or replaced while it was open): the caller's grant
 * ends at once. Anything else that is thrown counts as `STORE_UNAVAILABLE`.
 *
 * ## Checks above the store Bounds on marks are checked above the store, from the moment that each answer carries, so
 * the store does not have to know a record's content.
 *
 * docs/adr/0061 explains why every driver compares texts.
 */
import type { IdError } from "../errors.ts";
import { equalIdentity, identityOf, sameIdentity } from "./store-identity.ts";

/**
 * Key of a record: `layout`, `incarnation`, `quarantine`, `sequences`, or `worker-` and a number. Lower-case letters,
 * digits and hyphens only.
 */
export type RecordKey = string;

/** A record as the store had it. It is passed back as `expected`; the store compares only its text. */
export interface Entry {
  readonly key: RecordKey;
  /** ASCII, at most 1,024 bytes. */
  readonly text: string;
}

/**
 * The life of the store that answered. A restart, a restored backup or another server is another incarnation, as far as
 * the store can show it.
 */
export interface Incarnation {
  /**
   * Distinguishes the data of one store from that of another, as named parts: see store-identity.ts. Redis: run_id and
   * replication ID. PostgreSQL: system identifier, timeline, and the object IDs of the database and the table. MySQL:
   * server_uuid and when the table was made. etcd: cluster ID. ZooKeeper: epoch and the birth of the tree. SQLite: an
   * ID drawn when the file was created, and one of its place. Printable ASCII, 1 to 200 characters.
   */
  readonly identity: string;
  /**
   * When the server started: Unix milliseconds by its own clock; compared exactly, so it must be the same in every
   * answer of one life (a start that is calculated from a clock and an uptime varies, and must not be given). undefined
   * if the identity covers restarts, or if a restart cannot lose data. docs/adr/0066 describes what went wrong
   * otherwise.
   */
  readonly startedMs: number | undefined;
  /**
   * What it means if the store holds no record at all. `new`: nothing was ever here, so nothing was lost. `lost`: the
   * store cannot rule out a loss (Redis after FLUSHALL; a new file beside traces of an older one), so new grants wait
   * out the quarantine.
   */
  readonly emptyMeans: "new" | "lost";
}

/** A position in the store's log, which only grows as long as nothing is lost. */
export interface StorePosition {
  /** The log; positions in different logs are not compared. */
  readonly log: string;
  readonly at: bigint;
}

/** When and in which life of the store something was answered. */
export interface StoreMoment {
  /**
   * The store's own wall clock, Unix milliseconds; undefined if it reports none (etcd, ZooKeeper, Kubernetes; a local
   * file).
   */
  readonly clockMs: number | undefined;
  readonly incarnation: Incarnation;
  /**
   * No lower than in any answer that came before this operation was sent; absent if the store reports none. A lower one
   * is evidence of a loss. A higher one proves nothing, because an older copy continues from its own position.
   * docs/adr/0153 has the decision.
   */
  readonly position?: StorePosition;
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
   * All records of the namespace, in any order. Each is as it was at some instant of the call; the list is not a
   * snapshot.
   */
  readonly entries: readonly Entry[];
  readonly moment: StoreMoment;
}

/** Answer to compareAndSet. If there is no answer, it throws: see above. */
export type WriteAnswer =
  | {
      readonly kind: "applied";
      /** The record as it is now, for the next `expected`. */
      readonly entry: Entry;
      readonly moment: StoreMoment;
    }
  | { readonly kind: "conflict"; readonly moment: StoreMoment }
  /**
   * The server reported that this write did not happen and never will: missing privileges, read only, full memory. This
   * write has not changed the record.
   */
  | { readonly kind: "refused"; readonly error: IdError };

/** How a dead holder is recognized. */
export type Liveness =
  /** `expiresAt` in the record decides, by the store's clock if it has one. */
  | { readonly kind: "ttl" }
  /** A record is free when its lock can be taken; `expiresAt` is 0 and unused. A lock dies with its process. */
  | {
      readonly kind: "lock";
      /** Takes the lock of a worker record without waiting; also true if this store object has it already. */
      readonly tryLock: (key: RecordKey) => Promise<boolean>;
      /** Gives the lock back; does nothing if it is not held. */
      readonly unlock: (key: RecordKey) => Promise<void>;
    };

/** The times that the protocol uses unless a setting says otherwise. */
export interface StoreTiming {
  /** Window: how far ahead time is reserved. Also the default of the layout record's windowMaxMs. */
  readonly windowMs: number;
  /** The time between two renewals. */
  readonly renewalPeriodMs: number;
  /**
   * The time from a write to expiresAt; 0 with `lock`. At least the window, plus the lead, plus twice the clock error:
   * 3 s more than the window.
   */
  readonly ttlMs: number;
}

/** The times of a store that is a durable server: a window is long enough for its restart or failover. */
export const serverTiming: StoreTiming = { windowMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 };

/** The times of Redis: short, so that the quarantine after a loss of its data is short. */
export const redisTiming: StoreTiming = { windowMs: 5_000, renewalPeriodMs: 1_500, ttlMs: 8_000 };

/** A setting of the store's server that an operator should change, for `snowlane doctor`. */
export interface StoreAdvice {
  /** A sentence that says what the setting is and what it costs. */
  readonly detail: string;
  /** What to do about it, in a sentence. */
  readonly hint: string;
}

/** Keeps the records of one namespace. The head of this file has its duties. */
export interface RecordStore {
  /** The scheme of its URL, for logs and status: `sqlite`, `postgres`, ... */
  readonly kind: string;
  /**
   * `lossy`: an answered write may be undone by a crash of the store (Redis). Records that were not released are then
   * taken over later.
   */
  readonly durability: "durable" | "lossy";
  /**
   * Whether a read can show a write that a failover then undoes: if a write waits for copies and that wait is given up,
   * the write is on one server, where all can read it. Then only the answer to a write confirms it. Absent = no.
   * docs/adr/0152 has the decision.
   */
  readonly readsMayBeUndone?: boolean;
  /** Whether a write of the text that is already there is answered without being written. Absent = no. */
  readonly skipsEqualWrites?: boolean;
  readonly liveness: Liveness;
  readonly timing: StoreTiming;
  /** Asks for the moment alone: the store's clock as a second opinion, and its incarnation. */
  moment(): Promise<StoreMoment>;
  list(): Promise<ListAnswer>;
  read(key: RecordKey): Promise<ReadAnswer>;
  /**
   * Writes `next` if the record still is `expected`.
   *
   * @param expected - What was last read or written under this key; undefined = the key is absent.
   * @throws IdError: the outcome is unknown. See "Errors of a store" above.
   */
  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer>;
  /**
   * Checks settings of the server on which records or their availability depend; absent if there are no such settings.
   *
   * @param timing - The times that a server of the namespace would use.
   * @returns An empty list if nothing has to be changed.
   */
  advise?(timing: Pick<StoreTiming, "windowMs">): Promise<readonly StoreAdvice[]>;
  /** Gives up connections, locks and threads. Calls after it throw STORE_UNAVAILABLE; a second close does nothing. */
  close(): Promise<void>;
}

/** Options of every store. */
export interface StoreOptions {
  /** One set of records: lower-case letters, digits and hyphens, 1 to 63 characters, a letter or digit at both ends. */
  readonly namespace: string;
  /** Longest time that one call may take. */
  readonly callTimeoutMs: number;
  /** The password, if the store requires one and its URL does not name one. Never logged. */
  readonly password?: string | undefined;
  /**
   * What to do if nothing was ever kept: no file, no table, no znode. `create` (default) creates it; `refuse` throws
   * INVALID_CONFIG, for commands that only read.
   */
  readonly whereNew?: "create" | "refuse" | undefined;
  /**
   * What to do if a file is to be created in a folder that does not exist. `create` (default) creates the folder;
   * `refuse` throws INVALID_CONFIG, because a mistyped path would begin a new deployment.
   */
  readonly whereNoFolder?: "create" | "refuse" | undefined;
}

/** The moment of a store whose identity shows every loss, so that an empty store is a new one. */
export function momentOf(life: {
  /** See {@link identityOf}. */
  readonly parts: Readonly<Record<string, string>>;
  readonly clockMs?: number;
  readonly startedMs?: number | undefined;
  /** The position in the log of the store with these parts. */
  readonly at?: bigint | undefined;
}): StoreMoment {
  const { parts, clockMs, startedMs, at } = life;
  const identity = identityOf(parts);
  const position = at === undefined ? {} : { position: { log: identity, at } };
  return { clockMs, incarnation: { identity, startedMs, emptyMeans: "new" }, ...position };
}

/**
 * The answer to a write, for a caller that can do nothing about a refusal.
 *
 * @throws IdError why it was refused.
 */
export function unlessRefused(answer: WriteAnswer): Exclude<WriteAnswer, { kind: "refused" }> {
  if (answer.kind === "refused") throw answer.error;
  return answer;
}

/** Whether two answers came from the same life of the store, by the parts that both report. */
export function sameIncarnation(one: Incarnation, other: Incarnation): boolean {
  return sameIdentity(one.identity, other.identity) && one.startedMs === other.startedMs;
}

/** Whether two answers came from the same life of the store, and report the same parts of its identity. */
export function equalIncarnation(one: Incarnation, other: Incarnation): boolean {
  return equalIdentity(one.identity, other.identity) && one.startedMs === other.startedMs;
}
