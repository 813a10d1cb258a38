import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test.each([
  ["page.md", 28],
  ["clients.md", 24],
])("each finding of the review in %s has a test, or a sentence in its place", (page, count) => {
  const rows = [...readFileSync(`docs/evidence/${page}`, "utf8").matchAll(/^\| (\d+) \| [^|]+ \| (.*) \|$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  // test/house/tidy-pages.test.ts looks after the names of the tests.
  for (const [, number, now = ""] of rows) {
    expect([number, /\[test\]\(\S+ "[^"]+"\)|^Decided: /.test(now)]).toEqual([number, true]);
    const named = [...now.matchAll(/"PAGE ([\d and,]+):/g)].filter(
      ([, numbers]) => !numbers!.split(" ").includes(number!),
    );
    expect([number, named]).toEqual([number, []]);
  }
});
