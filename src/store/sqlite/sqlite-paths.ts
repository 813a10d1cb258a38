import { join } from "node:path";

/** The suffix of a lock file: a lock file in the folder shows that the store's file was in use before. */
export const lockSuffix = ".lock";

/** The folder of locks beside the file of an embedded store. */
export function locksFolder(path: string): string {
  return `${path}.locks`;
}

/** The file of one lock. */
export function lockPath(path: string, name: string): string {
  return join(locksFolder(path), name + lockSuffix);
}

/**
 * The file `revision` in that folder. It remembers the last revision of the store's file, and is locked around each
 * write to that file.
 */
export function revisionPath(path: string): string {
  return join(locksFolder(path), "revision");
}
