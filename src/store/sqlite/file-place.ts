/**
 * Two accounts of a store's file: its own, and that of the place where it is. Together they show whether the file is
 * the one that was here before, and is no older than it was.
 */
import type { DatabaseSync } from "node:sqlite";
import { kernelRandom128 } from "../../kernel-random.ts";
import { identityOf } from "../store-identity.ts";

/** One life of a file at its place. */
export interface FileLife {
  /** Differs as soon as another file, or an older copy, is here. */
  readonly identity: string;
  /** What it means if the file has no data. `new`: nothing was ever lost here. `lost`: a loss cannot be ruled out. */
  readonly emptyMeans: "new" | "lost";
}

/** The file's own account, in its table `meta`. */
export interface FileMeta {
  readonly fileId: string;
  /** Grows with each write. */
  readonly revision: number;
  /** Whether the file was created with no trace of an earlier one beside it. */
  readonly isClean: boolean;
}

/** The account of the place, in the file `revision` beside it: which file was here when it was last looked at. */
export interface FilePlace {
  readonly fileId: string;
  /** A new one is drawn whenever the file that is here is not the one that was here before. */
  readonly placeId: string;
  readonly revision: number;
  /** Whether nothing was ever lost here since the file was new. */
  readonly isOriginal: boolean;
}

/** Creates the table of a file's own account. Part of the transaction that creates all its tables. */
export function createMeta(database: DatabaseSync, isClean: boolean): void {
  database.exec(`CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1), file_id TEXT NOT NULL, revision INTEGER NOT NULL, clean INTEGER NOT NULL
  ) STRICT;`);
  database.prepare("INSERT INTO meta VALUES (1, ?, 0, ?)").run(kernelRandom128(), isClean ? 1 : 0);
}

/** See {@link FileMeta}. */
export function readMeta(database: DatabaseSync): FileMeta {
  const row = database.prepare("SELECT file_id, revision, clean FROM meta").get();
  if (row === undefined) throw new Error("the table meta is empty");
  return { fileId: String(row["file_id"]), revision: Number(row["revision"]), isClean: row["clean"] === 1 };
}

/** Writes the file's own revision. */
export function writeMeta(database: DatabaseSync, revision: number): void {
  database.prepare("UPDATE meta SET revision = ?").run(revision);
}

/** Creates the table of the place if there is none. */
export function createPlace(database: DatabaseSync): void {
  database.exec(`CREATE TABLE IF NOT EXISTS place (
    one INTEGER PRIMARY KEY CHECK (one = 1), file_id TEXT NOT NULL, place_id TEXT NOT NULL, revision INTEGER NOT NULL,
    original INTEGER NOT NULL
  ) STRICT;`);
}

/** See {@link FilePlace}; undefined if no file was ever here. */
export function readPlace(database: DatabaseSync): FilePlace | undefined {
  const row = database.prepare("SELECT file_id, place_id, revision, original FROM place").get();
  if (row === undefined) return undefined;
  return {
    fileId: String(row["file_id"]),
    placeId: String(row["place_id"]),
    revision: Number(row["revision"]),
    isOriginal: row["original"] === 1,
  };
}

/** Notes at the place how far the file has come. */
export function writePlace(database: DatabaseSync, revision: number): void {
  database.prepare("UPDATE place SET revision = ?").run(revision);
}

/**
 * Decides whether this is the life of the file that was here before, or a new one, and notes it at the place.
 *
 * @param place - What {@link readPlace} read in the same transaction.
 */
export function resolveLife(
  database: DatabaseSync,
  meta: FileMeta,
  place: FilePlace | undefined,
): { readonly placeId: string; readonly life: FileLife } {
  const isKnown = place !== undefined && place.fileId === meta.fileId && meta.revision >= place.revision;
  // An unwritten file with nothing beside it was created by this process a moment ago.
  const isNew = place === undefined && meta.isClean && meta.revision === 0;
  const { placeId, isOriginal } = isKnown ? place : { placeId: kernelRandom128(), isOriginal: isNew };
  database
    .prepare("INSERT OR REPLACE INTO place VALUES (1, ?, ?, ?, ?)")
    .run(meta.fileId, placeId, meta.revision, isOriginal ? 1 : 0);
  const emptyMeans = meta.isClean && isOriginal ? "new" : "lost";
  return { placeId, life: { identity: identityOf({ file: meta.fileId, place: placeId }), emptyMeans } };
}
