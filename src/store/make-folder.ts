import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its parents, each accessible only to this user. Existing folders are not changed.
 *
 * Does not use mkdirSync's own recursion: if the system reports ENOENT below an existing folder, as in /proc, that
 * loops forever, and no signal can end the process.
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
