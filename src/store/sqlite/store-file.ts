/**
 * An SQLite file that shows when it went back. It is used for worker records and for sequences, and knows nothing about
 * either.
 *
 * Beside the file is a folder, `<file>.locks/`, with a file `revision` in it, the place. It remembers which file was
 * here and its last revision. The file's own revision grows with each write. So an older copy that was put back is
 * noticed, whether or not a process was running then. For example: the place says revision 907, and the file says 880.
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { IdError } from "../../errors.ts";
import { programName } from "../program-name.ts";
import { nothingKept } from "../link/made-once.ts";
import { makeFolder } from "../make-folder.ts";
import { identifyFile, networkFileSystem } from "./file-identity.ts";
import { checkOneName, realPathOf } from "./file-names.ts";
import { createMeta, createPlace, readMeta, readPlace, resolveLife } from "./file-place.ts";
import { inTransaction } from "./file-transaction.ts";
import { type OpenDatabase, OpenFile } from "./open-file.ts";
import { foreignFile, isMoved, sqliteError, unavailable, regressed } from "./sqlite-error.ts";
import { lockSuffix, locksFolder, revisionPath } from "./sqlite-paths.ts";

/** The path of the file, and how it is used. */
export interface StoreFileOptions {
  /** Absolute; may contain symbolic links. */
  readonly path: string;
  /** How long to wait for another process's write. */
  readonly busyTimeoutMs: number;
  /** `force` accepts a network file system, against advice. */
  readonly networkFileSystem: "refuse" | "force";
  /** What to do if there is no file: `create` (default) creates it, `refuse` throws INVALID_CONFIG. */
  readonly whereNew?: "create" | "refuse";
  /** The same if not even its folder exists. */
  readonly whereNoFolder?: "create" | "refuse";
}

/** The kind of data that a file holds. */
export interface StoreFileFormat {
  /** Marks the file as ours: SQLite's application_id. */
  readonly applicationId: number;
  readonly version: number;
  /** Statements that create its tables, other than `meta`. */
  readonly tablesSql: string;
  /**
   * Statements that upgrade a file to the next version, by the number of its present one. Absent: files of older
   * versions are refused.
   */
  readonly upgrades?: Readonly<Record<number, string>>;
}

// EXTRA, not FULL: in this journal mode FULL does not sync the folder, and a power cut could undo an answered commit.
// Not WAL: writes to the WAL of a file that was deleted would still succeed.
const pragmas = "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;";

/**
 * A store's file. It is opened with the first use, and after it went back again with the next use.
 *
 * Synchronous, so it runs in a thread of its own. Everything that it throws is an IdError.
 */
export class StoreFile {
  readonly #options: StoreFileOptions;
  readonly #format: StoreFileFormat;
  #open: OpenFile | undefined;
  /** Only a start creates a file; one that vanishes later is never created again. */
  #mayCreate = true;

  constructor(options: StoreFileOptions, format: StoreFileFormat) {
    this.#options = options;
    this.#format = format;
  }

  /**
   * Opens the file if needed, checks that it is the one that was opened, and lets `work` use it.
   *
   * @throws IdError STORE_WENT_BACK: it is closed, and the next use opens the file that is there then.
   * STORE_UNAVAILABLE, INVALID_CONFIG.
   */
  use<T>(work: (file: OpenFile) => T): T {
    let { path } = this.#options;
    try {
      path = this.#open?.path ?? realPathOf(path);
      const file = (this.#open ??= this.#openBoth(path));
      file.checkPlaces();
      return work(file);
    } catch (cause) {
      const error = isMoved(cause) ? regressed(path, "it was moved or deleted") : sqliteError(path, cause);
      if (error.reason === "STORE_WENT_BACK") this.close();
      throw error;
    }
  }

  /** Closes the file; a later use would open it again. */
  close(): void {
    this.#open?.close();
    this.#open = undefined;
  }

  /** @param path - The real path: everything beside the file is named after it. */
  #openBoth(path: string): OpenFile {
    const { path: givenPath, whereNew, whereNoFolder } = this.#options;
    if (whereNew === "refuse" && !existsSync(path)) throw nothingKept("sqlite", `there is no file ${path}`);
    if (!this.#mayCreate && !existsSync(path)) throw vanished(path);
    if (whereNoFolder === "refuse") checkFolder(path);
    checkOneName(path);
    makeFolder(dirname(path));
    this.#checkFileSystem(path);
    const folder = locksFolder(path);
    const hasLocks = existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(lockSuffix));
    makeFolder(folder);
    const beside = this.#openDatabase(revisionPath(path), (database) => {
      database.exec(pragmas);
      createPlace(database);
    });
    try {
      // Done under the lock of the place: if several processes start at once, one creates the file, and none writes
      // meanwhile.
      return inTransaction(beside.database, "BEGIN IMMEDIATE", () => {
        const place = readPlace(beside.database);
        const main = this.#openMain(path, place !== undefined || hasLocks);
        try {
          const meta = readMeta(main.database);
          const { fileId, revision } = meta;
          const resolved = resolveLife(beside.database, meta, place);
          this.#mayCreate = false;
          return new OpenFile({ path, givenPath, main, beside, fileId, revision, ...resolved });
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

  /** @param hasTraces - Whether something beside the path shows that there was a file before. */
  #openMain(path: string, hasTraces: boolean): OpenDatabase {
    const there = identifyFile(path);
    // SQLite treats a file of one byte as an empty one, no matter what the byte is.
    if (!this.#mayCreate && (there === undefined || there.size <= 1n)) throw vanished(path);
    if (there?.size === 1n) throw foreignFile(path);
    return this.#openDatabase(path, (database) => {
      const isEmpty = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"] === 0;
      // Checked before anything is changed, because the file may be another program's.
      if (!isEmpty) this.#checkFormat(path, database);
      database.exec(pragmas);
      if (isEmpty) inTransaction(database, "BEGIN IMMEDIATE", () => this.#createTables(database, !hasTraces));
      else if (versionOf(database) < this.#format.version) {
        inTransaction(database, "BEGIN IMMEDIATE", () => this.#upgrade(database));
      }
    });
  }

  #createTables(database: DatabaseSync, isClean: boolean): void {
    const { applicationId, version, tablesSql } = this.#format;
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; ${tablesSql}`);
    createMeta(database, isClean);
  }

  /** Upgrades a file of an older version to the present one, step by step. */
  #upgrade(database: DatabaseSync): void {
    const { version, upgrades = {} } = this.#format;
    for (let found = versionOf(database); found < version; found += 1) {
      database.exec(`${upgrades[found]}; PRAGMA user_version = ${found + 1};`);
    }
  }

  #checkFormat(path: string, database: DatabaseSync): void {
    const { applicationId, version, upgrades = {} } = this.#format;
    const foundId = database.prepare("PRAGMA application_id").get()?.["application_id"];
    const foundVersion = versionOf(database);
    if (foundId === applicationId && (foundVersion === version || upgrades[foundVersion] !== undefined)) return;
    const program = foundId === applicationId ? programOf(database) : undefined;
    const other = program === undefined ? "another version of Snowlane" : `Snowlane ${program}`;
    const message =
      foundId === applicationId
        ? `${path} was made by ${other} (format ${foundVersion}, not ${version}). Use that version, or another file.`
        : `${path} is the SQLite database of another program. Choose another --store; nothing was changed.`;
    throw new IdError("INVALID_CONFIG", message, {
      metadata: { store: "sqlite", path, application_id: Number(foundId), format: foundVersion },
    });
  }

  #openDatabase(path: string, prepare: (database: DatabaseSync) => void): OpenDatabase {
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

  #checkFileSystem(path: string): void {
    const kind = networkFileSystem(dirname(path));
    if (kind === undefined || this.#options.networkFileSystem === "force") return;
    const message =
      `${path} is on a network file system (${kind}), whose locks cannot be trusted. Use a local disk, or a store that is a server. ` +
      `To use it all the same, from only one machine, add ?network-file-system=force to the store URL.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { store: "sqlite", path, file_system: kind } });
  }
}

/** Refuses a file whose folder does not exist. @throws IdError INVALID_CONFIG. */
export function checkFolder(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  const message = `There is no folder ${folder} for the store ${path}. Check --store; for a new deployment create the folder, or give --create.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store", folder } });
}

/**
 * The version that created a file of another format. A version that raises the format also writes a table that names
 * it.
 */
function programOf(database: DatabaseSync): string | undefined {
  try {
    return programName(database.prepare("SELECT version FROM snowlane_program").get()?.["version"]);
  } catch {
    return undefined;
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

function vanished(path: string): IdError {
  return unavailable(path, "the file vanished; put it back, or start again");
}
