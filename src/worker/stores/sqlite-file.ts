/**
 * The embedded store: one SQLite file, and beside it a folder of locks. Synchronous; it runs in a thread of its own
 * (sqlite-thread.ts).
 *
 * Three things stand beside the file, in `<file>.locks/`: one small file for each worker ID, whose lock tells whether
 * the holder lives; and `revision`, which remembers which file stood here and how far it had come. The file's own
 * revision grows with each write, so a copy that was put back shows, whoever put it there and whether or not a process
 * was running.
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { IdError } from "../../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { makeFolder } from "../make-folder.ts";
import type { Incarnation } from "../record-store.ts";
import { type FileIdentity, identifyFile, networkFileSystem, standsAt } from "./file-identity.ts";
import { nothingKept } from "./store-link.ts";
import { isBusy, isMoved, sqliteError, unavailable, wentBack } from "./sqlite-error.ts";
import { locksFolder, revisionPath } from "./sqlite-paths.ts";

/** Where the file is and how it is used. */
export interface SqliteFileOptions {
  /** Absolute. */
  readonly path: string;
  readonly namespace: string;
  /** How long to wait for another process's write. */
  readonly busyTimeoutMs: number;
  /** `force` takes a network file system, against advice. */
  readonly networkFileSystem: "refuse" | "force";
  /** See StoreOptions. */
  readonly whereNew?: "create" | "refuse";
}

/** A record as the file has it. */
export interface SqliteRecord {
  readonly key: string;
  readonly text: string;
}

interface OpenFile {
  readonly database: DatabaseSync;
  readonly file: FileIdentity;
}

interface OpenStore {
  readonly main: OpenFile;
  readonly beside: OpenFile;
  readonly fileId: string;
  readonly placeId: string;
  readonly incarnation: Incarnation;
  /** The revision that was last seen: the file never shows a lower one. */
  revision: number;
}

/** Marks the file as ours: "SNWL". */
const applicationId = 0x534e574c;
const formatVersion = 1;
const lockSuffix = ".lock";

// EXTRA, not FULL: in this journal mode FULL does not sync the folder, and a power cut could undo an answered commit.
// Not WAL: a WAL goes on being written for a file that was deleted.
const pragmas = "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;";

/** See the head of this file. Whatever it throws is an IdError. */
export class SqliteFile {
  readonly #options: SqliteFileOptions;
  readonly #folder: string;
  #open: OpenStore | undefined;
  /** Only a start creates a file; one that vanishes later is never created again. */
  #mayCreate = true;
  readonly #locks = new Map<string, OpenFile>();

  constructor(options: SqliteFileOptions) {
    this.#options = options;
    this.#folder = locksFolder(options.path);
  }

  incarnation(): Incarnation {
    return this.#guard(() => this.#use((store) => store.incarnation));
  }

  /** All records of the namespace, or the one with `key`. */
  read(key?: string): { readonly records: readonly SqliteRecord[]; readonly incarnation: Incarnation } {
    return this.#guard(() =>
      this.#use((store) => {
        const { database } = store.main;
        // The place first: the file is written before it, so the file may only be newer.
        const place = readPlace(store.beside.database);
        const records = inTransaction(database, "BEGIN", () => {
          store.revision = this.#checkMeta(store, place);
          const where = key === undefined ? "" : " AND key = ?";
          const values = key === undefined ? [this.#options.namespace] : [this.#options.namespace, key];
          const statement = database.prepare(`SELECT key, text FROM record WHERE namespace = ?${where}`);
          return statement.all(...values) as unknown as SqliteRecord[];
        });
        return { records, incarnation: store.incarnation };
      }),
    );
  }

  /** @param expected - The text that must stand there; undefined = no record. */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
  ): { readonly applied: boolean; readonly incarnation: Incarnation } {
    return this.#guard(() =>
      this.#use((store) => {
        this.#checkLock(key);
        const { database } = store.beside;
        // The place is locked around the write: so it never runs ahead of the file, nor falls behind an answered write.
        const applied = inTransaction(database, "BEGIN IMMEDIATE", () => {
          const place = readPlace(database);
          const revision = inTransaction(store.main.database, "BEGIN IMMEDIATE", () =>
            this.#write(store, place, key, expected, next),
          );
          if (revision === undefined) return false;
          store.revision = revision;
          database.prepare("UPDATE place SET revision = ?").run(revision);
          return true;
        });
        // A file that was deleted or replaced commits to nothing: look again before anyone relies on it.
        this.#checkPlaces(store);
        this.#checkLock(key);
        return { applied, incarnation: store.incarnation };
      }),
    );
  }

  /** Takes the lock of a key without waiting; true also if it is ours already. */
  tryLock(key: string): boolean {
    return this.#guard(() =>
      this.#use(() => {
        const held = this.#locks.get(key);
        const path = this.#lockPath(key);
        if (held !== undefined && standsAt(path, held.file)) return true;
        this.unlock(key);
        const database = new DatabaseSync(path, { timeout: 0 });
        try {
          database.exec("BEGIN EXCLUSIVE");
          const file = identifyFile(path);
          if (file === undefined) throw wentBack(path, "the lock file vanished");
          // Kept in a field: a DatabaseSync that nothing refers to is collected, and its lock is gone.
          this.#locks.set(key, { database, file });
          return true;
        } catch (cause) {
          database.close();
          if (isBusy(cause)) return false;
          throw cause;
        }
      }),
    );
  }

  unlock(key: string): void {
    this.#locks.get(key)?.database.close();
    this.#locks.delete(key);
  }

  close(): void {
    for (const key of this.#locks.keys()) this.unlock(key);
    this.#closeStore();
  }

  /** @returns The new revision; undefined if the record was not what was expected. */
  #write(
    store: OpenStore,
    place: Place | undefined,
    key: string,
    expected: string | undefined,
    next: string,
  ): number | undefined {
    const { database } = store.main;
    const { namespace } = this.#options;
    const revision = this.#checkMeta(store, place) + 1;
    const row = database.prepare("SELECT text FROM record WHERE namespace = ? AND key = ?").get(namespace, key);
    if (row?.["text"] !== expected) return undefined;
    database.prepare("INSERT OR REPLACE INTO record (namespace, key, text) VALUES (?, ?, ?)").run(namespace, key, next);
    database.prepare("UPDATE meta SET revision = ?").run(revision);
    return revision;
  }

  /** Opens if needed, looks whether the files are those that were opened, and lets `work` use them. */
  #use<T>(work: (store: OpenStore) => T): T {
    const store = (this.#open ??= this.#openStore());
    this.#checkPlaces(store);
    return work(store);
  }

  /**
   * Turns what is thrown into an IdError. A store that is not what it was is closed; the next call opens what stands
   * there then.
   */
  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const error = isMoved(cause)
        ? wentBack(this.#options.path, "it was moved or deleted")
        : sqliteError(this.#options.path, cause);
      if (error.reason === "STORE_WENT_BACK") this.#closeStore();
      throw error;
    }
  }

  #checkPlaces({ main, beside }: OpenStore): void {
    const { path } = this.#options;
    if (!standsAt(path, main.file)) throw wentBack(path, "the file was deleted or replaced");
    if (!standsAt(this.#besidePath, beside.file)) throw wentBack(path, "the folder beside it was deleted or replaced");
  }

  #checkLock(key: string): void {
    const held = this.#locks.get(key);
    if (held !== undefined && !standsAt(this.#lockPath(key), held.file)) {
      this.unlock(key);
      throw wentBack(this.#options.path, `the lock file of ${key} was deleted or replaced`);
    }
  }

  /**
   * Inside a transaction: holds the file to being the one that was opened, and no older than anyone has seen it.
   *
   * @returns Its revision.
   */
  #checkMeta(store: OpenStore, place: Place | undefined): number {
    const { path } = this.#options;
    const { fileId, revision } = readMeta(store.main.database);
    if (fileId !== store.fileId) throw wentBack(path, "another file was put in its place");
    // Somebody opened it anew and found that data was lost.
    if (place?.placeId !== store.placeId) throw wentBack(path, "another process found that it went back");
    const seen = Math.max(store.revision, place.revision);
    if (revision < seen)
      throw wentBack(path, `an older copy was put in its place (revision ${revision} after ${seen})`);
    return revision;
  }

  get #besidePath(): string {
    return revisionPath(this.#options.path);
  }

  #lockPath(key: string): string {
    return join(this.#folder, `${this.#options.namespace}.${key}${lockSuffix}`);
  }

  #openStore(): OpenStore {
    const { path, whereNew } = this.#options;
    if (whereNew === "refuse" && !existsSync(path)) throw nothingKept("sqlite", `there is no file ${path}`);
    if (!this.#mayCreate && !existsSync(path))
      throw unavailable(path, "the file vanished; put it back, or start again");
    makeFolder(dirname(path));
    this.#checkFileSystem();
    const hasTraces = existsSync(this.#folder) && readdirSync(this.#folder).some((name) => name.endsWith(lockSuffix));
    makeFolder(this.#folder);
    const beside = this.#openFile(this.#besidePath, (database) => database.exec(pragmas + besideSchema));
    try {
      // Under the lock of the revision: of several processes that start at once, one creates, and nobody writes
      // meanwhile.
      return inTransaction(beside.database, "BEGIN IMMEDIATE", () => {
        const place = readPlace(beside.database);
        const main = this.#openMain(place !== undefined || hasTraces);
        try {
          const store = { main, beside, ...settlePlace(beside.database, readMeta(main.database), place) };
          this.#mayCreate = false;
          return store;
        } catch (cause) {
          main.database.close();
          throw cause;
        }
      });
    } catch (cause) {
      beside.database.close();
      throw cause;
    }
  }

  #openMain(hasTraces: boolean): OpenFile {
    const { path } = this.#options;
    const there = identifyFile(path);
    if (!this.#mayCreate && (there === undefined || there.size === 0n)) {
      throw unavailable(path, "the file vanished; put it back, or start again");
    }
    return this.#openFile(path, (database) => {
      const isEmpty = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"] === 0;
      // Looked at before anything is changed: it may be another program's.
      if (!isEmpty) checkMain(database, path);
      database.exec(pragmas);
      if (isEmpty) inTransaction(database, "BEGIN IMMEDIATE", () => createMain(database, hasTraces ? 0 : 1));
    });
  }

  #openFile(path: string, prepare: (database: DatabaseSync) => void): OpenFile {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { timeout: this.#options.busyTimeoutMs });
      prepare(database);
      const file = identifyFile(path);
      if (file === undefined) throw unavailable(path, "it vanished while it was opened");
      return { database, file };
    } catch (cause) {
      database?.close();
      throw sqliteError(path, cause);
    }
  }

  #checkFileSystem(): void {
    const { path } = this.#options;
    const kind = networkFileSystem(dirname(path));
    if (kind === undefined || this.#options.networkFileSystem === "force") return;
    const message =
      `${path} lies on a network file system (${kind}), whose locks cannot be trusted. Use a local disk, or a store that is a server. ` +
      `To use it all the same, from one machine alone, add ?network-file-system=force to the store URL.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { store: "sqlite", path, file_system: kind } });
  }

  #closeStore(): void {
    this.#open?.main.database.close();
    this.#open?.beside.database.close();
    this.#open = undefined;
  }
}

const besideSchema = `CREATE TABLE IF NOT EXISTS place (
  one INTEGER PRIMARY KEY CHECK (one = 1), file_id TEXT NOT NULL, place_id TEXT NOT NULL, revision INTEGER NOT NULL, original INTEGER NOT NULL
) STRICT;`;

/** What stood here when it was last looked at. */
interface Place {
  readonly fileId: string;
  /** Drawn anew whenever what stands here is not what stood here: the store's incarnation. */
  readonly placeId: string;
  readonly revision: number;
  /** Whether nothing was ever lost here since the file was new. */
  readonly original: boolean;
}

interface Meta {
  readonly fileId: string;
  readonly revision: number;
  /** Whether the file was made with no trace of an earlier one. */
  readonly clean: boolean;
}

function createMain(database: DatabaseSync, clean: 0 | 1): void {
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion};
    CREATE TABLE meta (
      one INTEGER PRIMARY KEY CHECK (one = 1), file_id TEXT NOT NULL, revision INTEGER NOT NULL, clean INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE record (
      namespace TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (namespace, key)
    ) STRICT, WITHOUT ROWID;`);
  database.prepare("INSERT INTO meta VALUES (1, ?, 0, ?)").run(kernelRandom128(), clean);
}

function checkMain(database: DatabaseSync, path: string): void {
  const id = database.prepare("PRAGMA application_id").get()?.["application_id"];
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  if (id === applicationId && version === formatVersion) return;
  const message =
    id === applicationId
      ? `${path} was made by another version of Snowlane (format ${String(version)}, not ${formatVersion}). Use that version, or another file.`
      : `${path} is the SQLite database of another program. Choose another --store; nothing was changed.`;
  throw new IdError("INVALID_CONFIG", message, {
    metadata: { store: "sqlite", path, application_id: Number(id), format: Number(version) },
  });
}

function readMeta(database: DatabaseSync): Meta {
  const row = database.prepare("SELECT file_id, revision, clean FROM meta").get();
  if (row === undefined) throw new Error("the table meta is empty");
  return { fileId: String(row["file_id"]), revision: Number(row["revision"]), clean: row["clean"] === 1 };
}

function readPlace(database: DatabaseSync): Place | undefined {
  const row = database.prepare("SELECT file_id, place_id, revision, original FROM place").get();
  if (row === undefined) return undefined;
  return {
    fileId: String(row["file_id"]),
    placeId: String(row["place_id"]),
    revision: Number(row["revision"]),
    original: row["original"] === 1,
  };
}

/** Says which life of the store this is: the one that stood here, or a new one. */
function settlePlace(
  database: DatabaseSync,
  meta: Meta,
  place: Place | undefined,
): Pick<OpenStore, "fileId" | "placeId" | "incarnation" | "revision"> {
  const isKnown = place !== undefined && place.fileId === meta.fileId && meta.revision >= place.revision;
  // A file that nothing was ever written to, with nothing beside it: ours of a moment ago.
  const isNew = place === undefined && meta.clean && meta.revision === 0;
  const settled = isKnown ? place : { placeId: kernelRandom128(), original: isNew };
  database
    .prepare("INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?)")
    .run(meta.fileId, settled.placeId, meta.revision, settled.original ? 1 : 0);
  const { placeId } = settled;
  const emptyMeans = meta.clean && settled.original ? "new" : "lost";
  const incarnation: Incarnation = { identity: `${meta.fileId}.${placeId}`, startedMs: undefined, emptyMeans };
  return { fileId: meta.fileId, placeId, revision: meta.revision, incarnation };
}

function inTransaction<T>(database: DatabaseSync, begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
  database.exec(begin);
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (cause) {
    try {
      // SQLite may have rolled back by itself (a full disk); then there is nothing to roll back.
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // What brought us here says more.
    }
    throw cause;
  }
}
