import { statSync } from "node:fs";

/** The bits of a mode that let other users than the owner and its group write or read. */
const [othersWrite, othersRead] = [0o002, 0o004];

/** What users other than its owner and its group may do with a file. */
export interface FileAccess {
  /** Any user of the machine may change it: nothing in it can be trusted. */
  readonly othersWrite: boolean;
  /** Any user of the machine may read it. A secret that Kubernetes mounts for a group is not such a file. */
  readonly othersRead: boolean;
}

/**
 * Finds what other users may do with a file; on Windows, which has no such bits, they may do nothing.
 *
 * @throws As statSync.
 */
export function accessOf(path: string): FileAccess {
  if (process.platform === "win32") return { othersWrite: false, othersRead: false };
  const { mode } = statSync(path);
  return { othersWrite: (mode & othersWrite) !== 0, othersRead: (mode & othersRead) !== 0 };
}

/** What to do about a file that others may write: sentences. */
export const writableHint =
  "Every user of this machine may write it, and so decide what this server trusts. Remove that permission: chmod o-w.";
