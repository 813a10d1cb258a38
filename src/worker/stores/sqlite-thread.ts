/**
 * The thread in which the embedded store works: node:sqlite is synchronous, and the event loop that serves IDs must
 * never wait for the disk. An entry of the bundle of its own.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { ErrorReason, IdError } from "../../errors.ts";
import type { Incarnation } from "../record-store.ts";
import { sqliteError } from "./sqlite-error.ts";
import { SqliteFile, type SqliteFileOptions, type SqliteRecord } from "./sqlite-file.ts";

/** What the thread is asked. */
export type SqliteCall =
  | { readonly kind: "incarnation" }
  | { readonly kind: "list" }
  | { readonly kind: "read"; readonly key: string }
  | {
      readonly kind: "compareAndSet";
      readonly key: string;
      readonly expected: string | undefined;
      readonly next: string;
    }
  | { readonly kind: "tryLock"; readonly key: string }
  | { readonly kind: "unlock"; readonly key: string }
  | { readonly kind: "close" };

/** What it answers. */
export type SqliteResult =
  | { readonly kind: "incarnation"; readonly incarnation: Incarnation }
  | { readonly kind: "records"; readonly records: readonly SqliteRecord[]; readonly incarnation: Incarnation }
  | { readonly kind: "written"; readonly applied: boolean; readonly incarnation: Incarnation }
  | { readonly kind: "locked"; readonly locked: boolean }
  | { readonly kind: "done" }
  /** An IdError, which as a class does not pass between threads. */
  | {
      readonly kind: "failed";
      readonly reason: ErrorReason;
      readonly message: string;
      readonly metadata: Readonly<Record<string, string>>;
    };

/** A call, and its answer, carry the same number. */
export interface SqliteRequest {
  readonly id: number;
  readonly call: SqliteCall;
}

/** See {@link SqliteRequest}. */
export interface SqliteReply {
  readonly id: number;
  readonly result: SqliteResult;
}

const options = workerData as SqliteFileOptions;
const file = new SqliteFile(options);

parentPort?.on("message", ({ id, call }: SqliteRequest) => {
  parentPort?.postMessage({ id, result: answer(call) } satisfies SqliteReply);
  if (call.kind === "close") parentPort?.close();
});

function answer(call: SqliteCall): SqliteResult {
  try {
    return perform(call);
  } catch (cause) {
    const { reason, message, metadata }: IdError = sqliteError(options.path, cause);
    return { kind: "failed", reason, message, metadata };
  }
}

function perform(call: SqliteCall): SqliteResult {
  if (call.kind === "compareAndSet") {
    return { kind: "written", ...file.compareAndSet(call.key, call.expected, call.next) };
  }
  if (call.kind === "read") return { kind: "records", ...file.read(call.key) };
  if (call.kind === "list") return { kind: "records", ...file.read() };
  if (call.kind === "incarnation") return { kind: "incarnation", incarnation: file.incarnation() };
  if (call.kind === "tryLock") return { kind: "locked", locked: file.tryLock(call.key) };
  if (call.kind === "unlock") file.unlock(call.key);
  else file.close();
  return { kind: "done" };
}
