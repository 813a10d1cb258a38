import { join } from "node:path";

/** The folder of locks beside the file of an embedded store. */
export function locksFolder(path: string): string {
  return `${path}.locks`;
}

/** What remembers, in that folder, how far the file had come. It is locked around each write to the file. */
export function revisionPath(path: string): string {
  return join(locksFolder(path), "revision");
}
