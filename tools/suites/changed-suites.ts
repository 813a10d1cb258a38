import { execFileSync } from "node:child_process";
import type { TestSuite } from "../test-suites.ts";

/** Suites that read folders which hold no test of theirs. */
const readers: Readonly<Record<string, readonly string[]>> = {
  "clients/": ["clients"],
  "deploy/": ["deploy"],
  "docs/": ["docs"],
  "model/": ["proof"],
  "web/": ["web"],
};

/** The suites that changed files belong to: see {@link suitesOf}. */
export function changedSuites(suites: readonly TestSuite[]): readonly string[] {
  return suitesOf(changedFiles(), suites);
}

/**
 * A file belongs to the suites whose folder is the deepest one above it, as in the table of CONTRIBUTING.md. One that
 * is in none of them, such as a proto or a helper of the tests, may concern every suite. `core` reads all files, and
 * always belongs to them.
 */
export function suitesOf(files: readonly string[], suites: readonly TestSuite[]): readonly string[] {
  const all = suites.map(({ name }) => name);
  const folders = [...suites.flatMap((suite) => suite.folders), ...Object.keys(readers)];
  const found = new Set(files.length === 0 ? [] : ["core"]);
  for (const file of files) {
    const [deepest] = folders.filter((folder) => file.startsWith(folder)).toSorted((a, b) => b.length - a.length);
    const own = suites.filter((suite) => suite.folders.includes(deepest ?? "")).map(({ name }) => name);
    const isText = /^[^/]+\.md$/.test(file);
    const named = deepest === undefined ? (isText ? [] : all) : [...own, ...(readers[deepest] ?? [])];
    for (const name of named) found.add(name);
  }
  return all.filter((name) => found.has(name));
}

/** The files that differ from where this branch left `main`, those that are not committed, too. */
function changedFiles(): readonly string[] {
  const base = git("merge-base", "HEAD", "main");
  const lines = [git("diff", "--name-only", base), git("ls-files", "--others", "--exclude-standard")];
  return [...new Set(lines.flatMap((text) => text.split("\n")).filter((file) => file !== ""))];
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8" }).trim();
}
