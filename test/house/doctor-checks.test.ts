import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The checks of `snowlane doctor` that docs/cli.md lists. */
const listed = /\| check +\|[\s\S]*?\n\n/.exec(readFileSync("docs/cli.md", "utf8"))?.[0] ?? "";
const rows = new Set([...listed.matchAll(/^\| ([^|]+?) *\|/gm)].flatMap(([, cell = ""]) => cell.split(", ")));

test("docs/cli.md has a row for each check of doctor", () => {
  const sources = globSync("src/cli/doctor/*.ts", { exclude: ["**/*.test.ts"] });
  const made = /\b(?:ok|warn|fail)\(\s*"([^"]+)"/g;
  const names = sources.flatMap((path) => [...readFileSync(path, "utf8").matchAll(made)].map(([, name = ""]) => name));
  expect(new Set(names).size).toBeGreaterThan(15);
  expect(names.filter((name) => !rows.has(name))).toEqual([]);
});
