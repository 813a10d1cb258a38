import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/** Holds two folders to the same files with the same content. What differs is named; how to cure it is `cure`. */
export function expectEqualFolders(found: string, wanted: string, cure: string): void {
  const files = filesOf(found);
  expect(files, cure).toEqual(filesOf(wanted));
  const different = files.filter((file) => !readFileSync(join(found, file)).equals(readFileSync(join(wanted, file))));
  expect(different, cure).toEqual([]);
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
