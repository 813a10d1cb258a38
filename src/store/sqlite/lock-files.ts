import { DatabaseSync } from "node:sqlite";
import { identifyFile, standsAt } from "./file-identity.ts";
import type { OpenDatabase } from "./open-file.ts";
import { isBusy, regressed } from "./sqlite-error.ts";
import { lockPath } from "./sqlite-paths.ts";

/**
 * Locks in the folder beside a store's file, one small file each. A lock is free as soon as the process that holds it
 * ends.
 */
export class LockFiles {
  readonly #namespace: string;
  readonly #held = new Map<string, OpenDatabase>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /**
   * Takes a lock without waiting; also true if it is ours already. The folder must exist.
   *
   * @param storePath - The real path of the store's file.
   */
  tryLock(storePath: string, key: string): boolean {
    const held = this.#held.get(key);
    const path = this.#pathOf(storePath, key);
    if (held !== undefined && standsAt(path, held.file)) return true;
    this.unlock(key);
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec("BEGIN EXCLUSIVE");
      const file = identifyFile(path);
      if (file === undefined) throw regressed(path, "the lock file vanished");
      // Kept in a field, because a DatabaseSync without a reference is garbage-collected, and its lock is gone.
      this.#held.set(key, { database, file });
      return true;
    } catch (cause) {
      database.close();
      if (isBusy(cause)) return false;
      throw cause;
    }
  }

  /** Gives a lock back; does nothing if it is not ours. */
  unlock(key: string): void {
    this.#held.get(key)?.database.close();
    this.#held.delete(key);
  }

  /**
   * Checks that a lock of ours is still effective: if its file was replaced, another process could lock the new file.
   *
   * @throws IdError STORE_WENT_BACK: the lock's file was deleted or replaced.
   */
  check(storePath: string, key: string): void {
    const held = this.#held.get(key);
    if (held === undefined || standsAt(this.#pathOf(storePath, key), held.file)) return;
    this.unlock(key);
    throw regressed(storePath, `the lock file of ${key} was deleted or replaced`);
  }

  /** Gives all locks back. */
  close(): void {
    for (const key of this.#held.keys()) this.unlock(key);
  }

  #pathOf(storePath: string, key: string): string {
    return lockPath(storePath, `${this.#namespace}.${key}`);
  }
}
