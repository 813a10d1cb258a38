import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the way of one NextId in docs/architecture.md is at most five files, and each has what is said to be there", () => {
  const [, way = ""] = readFileSync("docs/architecture.md", "utf8").split("## The way of a call");
  const rows = [...way.matchAll(/^\| `(src\/[\w/-]+\.ts)` +\|(.*)\|$/gm)];
  expect(rows.length).toBeGreaterThan(2);
  expect(rows.length).toBeLessThanOrEqual(5);
  for (const [, path = "", names = ""] of rows) {
    const text = readFileSync(path, "utf8");
    for (const [, name = ""] of names.matchAll(/`(#?\w+)`/g)) expect(text, `${path}: ${name}`).toContain(name);
  }
});

test("every operation on a lease in docs/architecture.md is where the table says", () => {
  const [, section = ""] = readFileSync("docs/architecture.md", "utf8").split("## What can be done with a lease\n");
  const rows = section
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => /^\| \w.*`src\//.test(line));
  expect(rows.length).toBeGreaterThanOrEqual(10);
  for (const row of rows) {
    const [, , code = "", , outcomes = ""] = row.split("|");
    const [names, path = ""] = code.split(/ in (?=`src)/);
    const text = readFileSync(path.replaceAll("`", "").trim(), "utf8");
    for (const [, name = ""] of (names ?? "").matchAll(/`(\w+)`/g)) {
      expect(text, row).toMatch(new RegExp(`export (async )?(function|class) ${name}\\b`));
    }
    for (const [kind] of outcomes.matchAll(/\b[a-z]+-[a-z]+\b/g))
      expect(text, `${row}: ${kind}`).toContain(`"${kind}"`);
  }
});
