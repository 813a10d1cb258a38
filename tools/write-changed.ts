import { readFileSync, writeFileSync } from "node:fs";

/**
 * Writes the files, by path, whose text differs. A file that has it keeps its time: after package-lock.json or a
 * manifest changed, the next command would install everything again.
 */
export function writeChanged(files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) if (readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
