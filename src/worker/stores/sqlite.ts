import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { delay, systemTimers } from "../../clock.ts";
import { IdError } from "../../errors.ts";
import type {
  Entry,
  Incarnation,
  ListAnswer,
  Liveness,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreOptions,
  StoreTiming,
  WriteAnswer,
} from "../record-store.ts";
import { unavailable } from "./sqlite-error.ts";
import type { SqliteFileOptions } from "./sqlite-file.ts";
import type { SqliteCall, SqliteReply, SqliteRequest, SqliteResult } from "./sqlite-thread.ts";

/**
 * Opens the embedded store.
 *
 * The file is opened with the first call, and created if it is not there: by a start only. Several processes of one
 * machine may share it.
 *
 * @param url - `sqlite:PATH`, relative paths from the working directory; `?network-file-system=force` takes a network
 * file system.
 * @throws IdError INVALID_CONFIG.
 */
export async function openSqliteStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new SqliteStore(parseSqliteUrl(url, options), options.callTimeoutMs);
}

/** Takes a `sqlite:` URL apart. @throws IdError INVALID_CONFIG. */
export function parseSqliteUrl(url: string, options: StoreOptions): SqliteFileOptions {
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
    // Well below the time of a call: who has the lock is to be told, not that nothing came back.
    busyTimeoutMs: Math.floor(options.callTimeoutMs * busyShare),
    networkFileSystem: force === null ? "refuse" : "force",
    whereNew: options.whereNew ?? "create",
  };
}

const busyShare = 0.6;

/** The longest that the end of the thread is waited for. */
const threadEndTimeoutMs = 2_000;

/** A dead process's lock is free at once, so there is no TTL; and a stalled disk is outlived for seven seconds. */
const timing: StoreTiming = { windowMs: 10_000, renewalPeriodMs: 2_000, ttlMs: 0 };

/** The thread's file: beside this one in the sources; in dist/, beside the entry or one folder above a shared chunk. */
function threadUrl(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./sqlite-thread.ts", import.meta.url);
  const beside = new URL("./sqlite-thread.js", import.meta.url);
  return existsSync(fileURLToPath(beside)) ? beside : new URL("../sqlite-thread.js", import.meta.url);
}

interface Waiting {
  readonly resolve: (result: SqliteResult) => void;
  readonly reject: (error: IdError) => void;
}

/** The embedded store as the protocol sees it: each call goes to the thread and back. */
class SqliteStore implements RecordStore {
  readonly kind = "sqlite";
  readonly durability = "durable";
  readonly timing = timing;
  readonly liveness: Liveness = {
    kind: "lock",
    tryLock: async (key) => (await this.#call({ kind: "tryLock", key }, "locked")).locked,
    unlock: async (key) => void (await this.#call({ kind: "unlock", key }, "done")),
  };
  readonly #path: string;
  readonly #callTimeoutMs: number;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #ended: IdError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SqliteFileOptions, callTimeoutMs: number) {
    this.#path = options.path;
    this.#callTimeoutMs = callTimeoutMs;
    this.#thread = new Worker(threadUrl(), { workerData: options });
    this.#thread.on("message", ({ id, result }: SqliteReply) => {
      this.#waiting.get(id)?.resolve(result);
      this.#waiting.delete(id);
    });
    this.#thread.on("error", (cause) => this.#end(unavailable(this.#path, "its thread failed; start again", cause)));
    this.#thread.on("exit", () => this.#end(unavailable(this.#path, "its thread has ended")));
  }

  async moment(): Promise<StoreMoment> {
    return moment((await this.#call({ kind: "incarnation" }, "incarnation")).incarnation);
  }

  async list(): Promise<ListAnswer> {
    const { records, incarnation } = await this.#call({ kind: "list" }, "records");
    return { entries: records.map(({ key, text }) => toEntry(key, text)), moment: moment(incarnation) };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const { records, incarnation } = await this.#call({ kind: "read", key }, "records");
    const [record] = records;
    return { entry: record && toEntry(key, record.text), moment: moment(incarnation) };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const call = { kind: "compareAndSet", key, expected: expected?.text, next } as const;
    const { applied, incarnation } = await this.#call(call, "written");
    if (!applied) return { kind: "conflict", moment: moment(incarnation) };
    return { kind: "applied", entry: toEntry(key, next), moment: moment(incarnation) };
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    // The thread closes its files itself, so that no journal is left behind; a disk that does not answer is not waited
    // for.
    await this.#call({ kind: "close" }, "done").catch(() => {});
    this.#end(unavailable(this.#path, "the store is closed"));
    // A thread that is in a disk that does not answer ends when that does.
    await Promise.race([this.#thread.terminate(), delay(systemTimers, threadEndTimeoutMs)]);
  }

  #call<K extends SqliteResult["kind"]>(call: SqliteCall, kind: K): Promise<Extract<SqliteResult, { kind: K }>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#closing !== undefined && call.kind !== "close") {
      return Promise.reject(unavailable(this.#path, "the store is closed"));
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const cancel = systemTimers.after(this.#callTimeoutMs, () => {
        this.#waiting.delete(id);
        reject(unavailable(this.#path, `the disk did not answer within ${this.#callTimeoutMs} ms`));
      });
      this.#waiting.set(id, {
        resolve: (result) => {
          cancel();
          if (result.kind === kind) resolve(result as Extract<SqliteResult, { kind: K }>);
          else reject(toError(result));
        },
        reject: (error) => {
          cancel();
          reject(error);
        },
      });
      this.#thread.postMessage({ id, call } satisfies SqliteRequest);
    });
  }

  #end(error: IdError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function toError(result: SqliteResult): IdError {
  if (result.kind !== "failed") return new IdError("STORE_UNAVAILABLE", `The thread answered ${result.kind}.`);
  return new IdError(result.reason, result.message, { metadata: result.metadata });
}

// What was read is what a write expects: the text itself. A local file has no clock of its own.
function toEntry(key: RecordKey, text: string): Entry {
  return { key, text, version: text };
}

function moment(incarnation: Incarnation): StoreMoment {
  return { clockMs: undefined, incarnation };
}
