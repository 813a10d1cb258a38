/**
 * The names of a store's file. SQLite names its journal after the path, and so is the folder of locks named. A process
 * that opens the same file by another name sees neither: a journal that a killed process left would then be rolled back
 * over writes that were answered later. So the file must have one name for all processes.
 */
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { IdError } from "../../errors.ts";

/**
 * Resolves the symbolic links in a path, even if the file, or folders above it, do not exist yet.
 *
 * @param path - Absolute.
 * @throws The system's error, with `code`.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
  }
  const folder = realPathOf(dirname(path));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPathOf(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
}

/**
 * Refuses a file that has several names: more than one hard link, or a mount of the file itself. Refuses a device, a
 * pipe and a socket as well: SQLite would write its journal, and we our locks, beside it.
 *
 * @param path - From {@link realPathOf}; the file may be absent.
 * @throws IdError INVALID_CONFIG.
 */
export function checkOneName(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // A folder has a link for each folder in it; SQLite itself reports that it is not a file.
  if (found === undefined || found.isDirectory()) return;
  if (!found.isFile()) {
    const message = `${path} is not a file. Choose another --store; nothing was changed.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { store: "sqlite", path } });
  }
  const links = found.nlink;
  if (links > 1) {
    throw severalNames(path, `has ${links} hard links`, "Remove all but one (find -samefile shows them)");
  }
  if (isMountPoint(path, readMountInfo())) {
    throw severalNames(path, "is itself a mount point", "Mount the folder that it is in, never the file");
  }
}

/**
 * Whether something is mounted at exactly this path. A bind mount cannot be recognized in any other way: its device and
 * inode are those of the file.
 *
 * @param mountInfo - The text of /proc/self/mountinfo: proc_pid_mountinfo(5). The fifth field of a line is the mount
 * point, with blanks, tabs, line feeds and backslashes as three octal digits.
 */
export function isMountPoint(path: string, mountInfo: string): boolean {
  return mountInfo.split("\n").some((line) => {
    const point = line.split(" ")[4];
    return point?.replaceAll(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8))) === path;
  });
}

/** Reads the list of mounts; empty if the system has no such file. */
function readMountInfo(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}

function severalNames(path: string, finding: string, hint: string): IdError {
  const message =
    `${path} ${finding}, so processes may open it by different names, and SQLite would undo writes of one of them. ` +
    `${hint}, then start again; nothing was changed.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { store: "sqlite", path, finding } });
}
