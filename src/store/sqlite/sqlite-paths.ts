import { join } from "node:path";

/** The suffix of a lock file: one in the folder shows that the file beside it was in use before. */
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
 * The file `revision` in that folder. It remembers how far the store's file had come, and is locked around each write
 * to that file.
 */
export function revisionPath(path: string): string {
  return join(locksFolder(path), "revision");
}
