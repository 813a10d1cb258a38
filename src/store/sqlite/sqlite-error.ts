import { IdError } from "../../errors.ts";
import { findLockOwner } from "./lock-owner.ts";
import { revisionPath } from "./sqlite-paths.ts";

/** SQLite's result codes that we distinguish: https://www.sqlite.org/rescode.html */
const busy = 5;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;
/** SQLITE_READONLY_DBMOVED: the file was moved or deleted while it was open. */
const moved = 1_032;

/** The extended result code of an error; undefined if it did not come from SQLite. */
function sqliteCode(cause: unknown): number | undefined {
  return cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number" ? cause.errcode : undefined;
}

/** Whether another process had the lock. */
export function isBusy(cause: unknown): boolean {
  return primary(cause) === busy;
}

/** Whether SQLite reports that the file was moved or deleted. */
export function isMoved(cause: unknown): boolean {
  return sqliteCode(cause) === moved;
}

/** Turns an error of node:sqlite or of the file system into one that says what to do. */
export function sqliteError(path: string, cause: unknown): IdError {
  if (cause instanceof IdError) return cause;
  const problem = cause instanceof Error ? cause.message : String(cause);
  const metadata = { store: "sqlite", path, problem };
  const config = (message: string): IdError => new IdError("INVALID_CONFIG", message, { cause, metadata });
  const code = primary(cause) ?? systemCode(cause);
  if (isOneOf(code, readOnly, "EROFS", "EACCES", "EPERM")) {
    return config(
      `${path} cannot be written (${problem}). Make the file and its folder writable for this user, or choose another --store.`,
    );
  }
  if (isOneOf(code, cannotOpen, "ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ELOOP")) {
    return config(`${path} cannot be opened (${problem}). Check the path and the rights on its folder.`);
  }
  if (code === corrupt) {
    return config(`${path} is damaged (${problem}). Restore it from a backup, then run "snowlane workers quarantine".`);
  }
  if (code === notADatabase) return foreignFile(path, cause);
  if (isOneOf(code, full, "ENOSPC")) return unavailable(path, "the disk is full; free some space", cause);
  if (code === ioError) return unavailable(path, `${problem}; look at the disk's space, quota and health`, cause);
  if (code === busy) return unavailable(path, lockedProblem(path), cause);
  return unavailable(path, problem, cause);
}

/**
 * The problem of a locked store, with the process that has the lock: one that is stopped during a write blocks all
 * others.
 */
function lockedProblem(path: string): string {
  const owner = findLockOwner([path, revisionPath(path)]);
  if (owner === undefined) return "another process kept it locked for too long";
  const { processId, isStopped } = owner;
  if (!isStopped) return `process ${processId} kept it locked for too long`;
  return `process ${processId} is stopped and keeps it locked; let it go on (kill -CONT ${processId}) or end it (kill -KILL ${processId})`;
}

function isOneOf(code: number | string | undefined, ...codes: readonly (number | string)[]): boolean {
  return code !== undefined && codes.includes(code);
}

/** The error of a file that is not an SQLite file. */
export function foreignFile(path: string, cause?: unknown): IdError {
  const message = `${path} is not a SQLite database. Choose another --store; nothing was changed.`;
  return new IdError("INVALID_CONFIG", message, { cause, metadata: { store: "sqlite", path } });
}

/** The error of a call that the store did not answer. */
export function unavailable(path: string, problem: string, cause?: unknown): IdError {
  const metadata = { store: "sqlite", path, problem };
  return new IdError("STORE_UNAVAILABLE", `${path} cannot be used at the moment: ${problem}.`, { cause, metadata });
}

/** The error of a file that is not the one that was opened, or is older than it was. */
export function regressed(path: string, problem: string): IdError {
  const metadata = { store: "sqlite", path, problem };
  return new IdError("STORE_WENT_BACK", `${path} is not what it was: ${problem}.`, { metadata });
}

function primary(cause: unknown): number | undefined {
  const code = sqliteCode(cause);
  return code === undefined ? undefined : code & 0xff;
}

function systemCode(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}
