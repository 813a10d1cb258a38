import type { DatabaseSync } from "node:sqlite";
import { type FileIdentity, standsAt } from "./file-identity.ts";
import { type FileLife, type FilePlace, readMeta, readPlace, writeMeta, writePlace } from "./file-place.ts";
import { inTransaction } from "./file-transaction.ts";
import { regressed } from "./sqlite-error.ts";
import { revisionPath } from "./sqlite-paths.ts";

/** An open database, and the identity of its file. */
export interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly file: FileIdentity;
}

/**
 * The files behind an {@link OpenFile} as they were found when it was opened. Each later use has to find them
 * unchanged.
 */
export interface OpenFileParts {
  /** The real path, after which everything beside the file is named. */
  readonly path: string;
  /** The path as it was given; may contain symbolic links. */
  readonly givenPath: string;
  /** The file that holds the data. */
  readonly main: OpenDatabase;
  /** The file `revision` in the folder beside it. */
  readonly beside: OpenDatabase;
  /** Drawn when the file was created: 32 hex digits. */
  readonly fileId: string;
  /** Drawn when this file was first found at this path: 32 hex digits. */
  readonly placeId: string;
  /** The life of the file, by its own account and that of its place. */
  readonly life: FileLife;
  /** The number of its writes when it was opened. */
  readonly revision: number;
}

/**
 * A store's file while it is open, in one life of the file.
 *
 * Each read and each write first checks that the file is the one that was opened, and no older than any process has
 * seen it. All methods throw STORE_WENT_BACK otherwise; the file then cannot be used any more and has to be closed.
 */
export class OpenFile {
  readonly #parts: OpenFileParts;
  /** The revision that this process saw last: the file never shows a lower one. */
  #revision: number;

  constructor(parts: OpenFileParts) {
    this.#parts = parts;
    this.#revision = parts.revision;
  }

  /** See {@link OpenFileParts}. */
  get path(): string {
    return this.#parts.path;
  }

  /** See {@link FileLife}: the same for as long as it is open. */
  get life(): FileLife {
    return this.#parts.life;
  }

  /** Checks that both files are still at their paths. */
  checkPlaces(): void {
    const { path, givenPath, main, beside } = this.#parts;
    if (!standsAt(path, main.file)) throw regressed(path, "the file was deleted or replaced");
    if (givenPath !== path && !standsAt(givenPath, main.file)) {
      throw regressed(path, `${givenPath} leads to another file now, or to none`);
    }
    if (!standsAt(revisionPath(path), beside.file)) {
      throw regressed(path, "the folder beside it was deleted or replaced");
    }
  }

  /** Reads in one transaction. */
  read<T>(work: (database: DatabaseSync) => T): T {
    const { main, beside } = this.#parts;
    // The place is read first. A write goes to the file before it goes to the place, so the file can only be newer.
    const place = readPlace(beside.database);
    return inTransaction(main.database, "BEGIN", () => {
      this.#revision = this.#checkMeta(place);
      return work(main.database);
    });
  }

  /**
   * Writes in one transaction, and durably: the place notes the new revision before this returns.
   *
   * @param work - Returns whether it wrote anything.
   * @returns What `work` returned.
   */
  write(work: (database: DatabaseSync) => boolean): boolean {
    const { main, beside } = this.#parts;
    // The place is locked around the write, so that it is never ahead of the file, nor behind an answered write.
    const isWritten = inTransaction(beside.database, "BEGIN IMMEDIATE", () => {
      const place = readPlace(beside.database);
      const revision = inTransaction(main.database, "BEGIN IMMEDIATE", () => {
        const next = this.#checkMeta(place) + 1;
        if (!work(main.database)) return undefined;
        writeMeta(main.database, next);
        return next;
      });
      if (revision === undefined) return false;
      this.#revision = revision;
      writePlace(beside.database, revision);
      return true;
    });
    // A commit to a file that was deleted or replaced meanwhile is lost: the caller must not rely on it.
    this.checkPlaces();
    return isWritten;
  }

  /** Closes both files. */
  close(): void {
    this.#parts.main.database.close();
    this.#parts.beside.database.close();
  }

  /** @returns The file's revision. */
  #checkMeta(place: FilePlace | undefined): number {
    const { path, main, fileId, placeId } = this.#parts;
    const meta = readMeta(main.database);
    if (meta.fileId !== fileId) throw regressed(path, "another file was put in its place");
    // Another process opened it again and found that data was lost.
    if (place?.placeId !== placeId) throw regressed(path, "another process found that it went back");
    const seen = Math.max(this.#revision, place.revision);
    if (meta.revision < seen) {
      throw regressed(path, `an older copy was put in its place (revision ${meta.revision} after ${seen})`);
    }
    return meta.revision;
  }
}
