import type { Incarnation } from "../record-store.ts";
import type { FileLife } from "./file-place.ts";
import { LockFiles } from "./lock-files.ts";
import { StoreFile, type StoreFileOptions } from "./store-file.ts";

/** The path of the file, how it is used, and the namespace. */
export interface RecordFileOptions extends StoreFileOptions {
  /** Records of other namespaces in the file are ignored. */
  readonly namespace: string;
}

/** A record as the file has it. */
export interface FileRecord {
  readonly key: string;
  readonly text: string;
}

const format = {
  /** "SNWL" in ASCII. */
  applicationId: 0x534e574c,
  version: 1,
  tablesSql: `CREATE TABLE record (
    namespace TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;`,
};

/**
 * The worker records of one namespace in a {@link StoreFile}, and a lock for each worker ID, which shows whether its
 * holder is alive.
 *
 * Synchronous; it runs in a thread of its own (sqlite-thread.ts). Everything that it throws is an IdError.
 */
export class RecordFile {
  readonly #namespace: string;
  readonly #file: StoreFile;
  readonly #locks: LockFiles;

  constructor(options: RecordFileOptions) {
    this.#namespace = options.namespace;
    this.#file = new StoreFile(options, format);
    this.#locks = new LockFiles(options.namespace);
  }

  incarnation(): Incarnation {
    return this.#file.use(({ life }) => incarnationOf(life));
  }

  /** All records of the namespace, or the one with `key`. */
  read(key?: string): { readonly records: readonly FileRecord[]; readonly incarnation: Incarnation } {
    const [where, values] = key === undefined ? ["", [this.#namespace]] : [" AND key = ?", [this.#namespace, key]];
    return this.#file.use((file) => {
      const records = file.read((database) => {
        const statement = database.prepare(`SELECT key, text FROM record WHERE namespace = ?${where}`);
        return statement.all(...values) as unknown as FileRecord[];
      });
      return { records, incarnation: incarnationOf(file.life) };
    });
  }

  /** @param expected - The text that the record must have; undefined = there must be no record. */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
  ): { readonly applied: boolean; readonly incarnation: Incarnation } {
    return this.#file.use((file) => {
      this.#locks.check(file.path, key);
      const applied = file.write((database) => {
        const select = database.prepare("SELECT text FROM record WHERE namespace = ? AND key = ?");
        if (select.get(this.#namespace, key)?.["text"] !== expected) return false;
        const insert = database.prepare("INSERT OR REPLACE INTO record (namespace, key, text) VALUES (?, ?, ?)");
        insert.run(this.#namespace, key, next);
        return true;
      });
      this.#locks.check(file.path, key);
      return { applied, incarnation: incarnationOf(file.life) };
    });
  }

  /** Takes the lock of a key without waiting; also true if it is ours already. */
  tryLock(key: string): boolean {
    return this.#file.use(({ path }) => this.#locks.tryLock(path, key));
  }

  /** Gives the lock of a key back; does nothing if it is not ours. */
  unlock(key: string): void {
    this.#locks.unlock(key);
  }

  /** Gives all locks back, and closes the file. */
  close(): void {
    this.#locks.close();
    this.#file.close();
  }
}

/** A file loses nothing when a process restarts, so there is no start time. */
function incarnationOf({ identity, emptyMeans }: FileLife): Incarnation {
  return { identity, startedMs: undefined, emptyMeans };
}
