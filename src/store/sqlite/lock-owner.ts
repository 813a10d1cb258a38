import { readFileSync } from "node:fs";
import { identifyFile } from "./file-identity.ts";

/** A process that has a lock on a file. */
export interface LockOwner {
  readonly processId: number;
  /** The kind of its lock: one process may write, many may read. */
  readonly access: "write" | "read";
  /** Whether it is stopped: by SIGSTOP, or in a debugger. */
  readonly isStopped: boolean;
}

/**
 * Finds another process that has a lock on one of some files, preferably one that writes. Only for messages, because
 * the process may have released the lock by now.
 *
 * @returns undefined if there is none, or if the system does not show it. Linux shows processes that are visible from
 * here, but not those outside of a container.
 */
export function findLockOwner(paths: readonly string[]): LockOwner | undefined {
  let locks: string;
  try {
    locks = readFileSync("/proc/locks", "latin1");
  } catch {
    return undefined;
  }
  const files = new Set(paths.map(nameInLocks));
  // 1: POSIX  ADVISORY  WRITE 4711 fe:00:262148 1073741824 1073742335
  // Source: proc_locks(5). The line of a process that waits has an arrow, and does not match.
  const found = [...locks.matchAll(/^\d+: POSIX +\S+ +(READ|WRITE) +(\d+) (\S+) /gm)]
    .filter(([, , id, file]) => files.has(file) && Number(id) > 0 && Number(id) !== process.pid)
    .map(([, mode, id]) => ({ processId: Number(id), access: mode === "WRITE" ? "write" : "read" }) as const);
  const owner = found.find(({ access }) => access === "write") ?? found[0];
  return owner && { ...owner, isStopped: isStopped(owner.processId) };
}

/** Device and inode as /proc/locks writes them. */
function nameInLocks(path: string): string | undefined {
  const file = identifyFile(path);
  if (file === undefined) return undefined;
  // Split as by gnu_dev_major(3) and gnu_dev_minor(3).
  const { device, inode } = file;
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  const [first, second] = [major, minor].map((part) => part.toString(16).padStart(2, "0"));
  return `${first}:${second}:${inode}`;
}

function isStopped(processId: number): boolean {
  try {
    // The state follows the name, which may contain any characters: proc_pid_stat(5).
    const stat = readFileSync(`/proc/${processId}/stat`, "latin1");
    return /^[Tt]$/.test(stat.slice(stat.lastIndexOf(")") + 2).charAt(0));
  } catch {
    return false;
  }
}
