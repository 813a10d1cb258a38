import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const page = "docs/evidence/operations.md";

/** The tests that a row links to, each as its file and its name. */
function testsOf(row: string): readonly (readonly [file: string, name: string])[] {
  const links = row.matchAll(/\[test\]\((\S+) "([^"]+)"\)/g);
  return [...links].map(([, file = "", name = ""]) => [join(dirname(page), file), name]);
}

test("each finding of the review has a test that is named by its number", () => {
  const rows = [...readFileSync(page, "utf8").matchAll(/^\| (\d+) \| (.*)$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
  for (const [, number = "", row = ""] of rows) {
    // The values that a chart refuses are named in a table of their own.
    const inTable = readFileSync("test/support/charts/chart-values.ts", "utf8");
    const named = new RegExp(`\\bOPERATIONS (?:\\d+ and )*${number}\\b`);
    const tests = testsOf(row);
    expect([number, tests.length > 0]).toEqual([number, true]);
    for (const [file, name] of tests) {
      const text = name.startsWith("%s") ? inTable : name;
      expect([number, named.test(text), readFileSync(file, "utf8").includes(name)]).toEqual([number, true, true]);
    }
  }
});
