import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/**
 * Holds two folders to the same files with the same content. The error names the differences, and `hint` says what to
 * do.
 */
export function expectEqualFolders(found: string, wanted: string, hint: string): void {
  const files = filesOf(found);
  expect(files, hint).toEqual(filesOf(wanted));
  const different = files.filter((file) => !readFileSync(join(found, file)).equals(readFileSync(join(wanted, file))));
  expect(different, hint).toEqual([]);
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
