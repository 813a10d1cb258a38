/**
 * Leaves of the library's types those that it exports, and what these name: half of dist/types would be of no use to
 * anybody, because the package exports nothing else.
 */
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** @param folder - the types as the compiler wrote them, with `index.d.ts`. */
export function pruneTypes(folder) {
  const reached = new Set([join(folder, "index.d.ts")]);
  // A set gives also what is added while it is read.
  for (const path of reached)
    for (const [, name] of readFileSync(path, "utf8").matchAll(/\b(?:from |import\(|import )"(\.[^"]+)"/g))
      reached.add(join(dirname(path), name.replace(/\.[jt]s$/, ".d.ts")));
  for (const file of readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
}
