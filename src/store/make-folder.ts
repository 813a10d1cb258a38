import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its parents, each for this user alone. Folders that are there stay as they are.
 *
 * Not by mkdirSync's own recursion: where the system says ENOENT below a folder that is there, as in /proc, that never
 * ends, and no signal ends a process that is in it.
 *
 * @throws The system's error, with `code`.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
