/** Records in a SQLite file of this machine, compared by value. Each call goes to a thread and back. */
import { resolve } from "node:path";
import { IdError } from "../../errors.ts";
import {
  type Entry,
  type Incarnation,
  type ListAnswer,
  type Liveness,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  type StoreMoment,
  type StoreOptions,
  type WriteAnswer,
} from "../record-store.ts";
import type { RecordFile, RecordFileOptions } from "./record-file.ts";
import { findThread, ThreadLink } from "./thread-link.ts";

/**
 * The share of a call's time for which the thread waits for a lock. The rest is left for finding the lock's owner for
 * the error.
 */
const busyShare = 0.6;

/**
 * Opens the embedded store.
 *
 * The file is opened with the first call, and created then if it does not exist; it is never created later. Several
 * processes of one machine may share it.
 *
 * @param url - `sqlite:PATH`, relative paths from the working directory; `?network-file-system=force` accepts a network
 * file system.
 * @throws IdError INVALID_CONFIG.
 */
export async function openSqliteStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new SqliteStore(parseSqliteUrl(url, options), options);
}

/** Parses a `sqlite:` URL. @throws IdError INVALID_CONFIG. */
export function parseSqliteUrl(url: string, options: StoreOptions): RecordFileOptions {
  const match = /^sqlite:(?:\/\/(?=\/))?(?<path>[^?]+)(?:\?(?<query>.*))?$/s.exec(url);
  const path = match?.groups?.["path"] ?? "";
  const query = new URLSearchParams(match?.groups?.["query"] ?? "");
  const force = query.get("network-file-system");
  query.delete("network-file-system");
  if (path === "" || path.startsWith(":") || path.includes("\0") || query.size > 0 || (force ?? "force") !== "force") {
    const message = `The store URL ${url} is not sqlite:PATH, with or without ?network-file-system=force.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "store", value: url } });
  }
  return {
    path: resolve(path),
    namespace: options.namespace,
    busyTimeoutMs: Math.floor(options.callTimeoutMs * busyShare),
    networkFileSystem: force === null ? "refuse" : "force",
    whereNew: options.whereNew ?? "create",
    whereNoFolder: options.whereNoFolder ?? "create",
  };
}

/**
 * The times of a holder of a worker ID in a file. A dead process's lock is free at once, so there is no TTL. The window
 * outlasts a disk that stalls for 7 s.
 */
export const sqliteTiming = { windowMs: 10_000, renewalPeriodMs: 2_000, ttlMs: 0 } as const;

class SqliteStore implements RecordStore {
  readonly kind = "sqlite";
  readonly durability = "durable";
  readonly liveness: Liveness = {
    kind: "lock",
    tryLock: (key) => this.#link.call("tryLock", key),
    unlock: (key) => this.#link.call("unlock", key),
  };
  readonly timing = sqliteTiming;
  readonly #link: ThreadLink<RecordFile>;

  constructor(file: RecordFileOptions, { callTimeoutMs }: StoreOptions) {
    const code = findThread("sqlite-thread", import.meta.url);
    this.#link = new ThreadLink({ code, path: file.path, callTimeoutMs, workerData: file });
  }

  async moment(): Promise<StoreMoment> {
    return momentOfFile(await this.#link.call("incarnation"));
  }

  async list(): Promise<ListAnswer> {
    const { records, incarnation } = await this.#link.call("read");
    return { entries: records.map(({ key, text }) => ({ key, text })), moment: momentOfFile(incarnation) };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const { records, incarnation } = await this.#link.call("read", key);
    return { entry: records[0] && { key, text: records[0].text }, moment: momentOfFile(incarnation) };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const { applied, incarnation } = await this.#link.call("compareAndSet", key, expected?.text, next);
    const moment = momentOfFile(incarnation);
    return applied ? { kind: "applied", entry: { key, text: next }, moment } : { kind: "conflict", moment };
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

/** A local file has no clock of its own. */
function momentOfFile(incarnation: Incarnation): StoreMoment {
  return { clockMs: undefined, incarnation };
}
