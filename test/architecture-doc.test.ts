import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the way of one NextId in docs/architecture.md is at most five files, and each has what is said to be there", () => {
  const [, way = ""] = readFileSync("docs/architecture.md", "utf8").split("One NextId from socket to socket");
  const rows = [...way.matchAll(/^\| `(src\/[\w/-]+\.ts)` +\|(.*)\|$/gm)];
  expect(rows.length).toBeGreaterThan(2);
  expect(rows.length).toBeLessThanOrEqual(5);
  for (const [, path = "", names = ""] of rows) {
    const text = readFileSync(path, "utf8");
    for (const [, name = ""] of names.matchAll(/`(#?\w+)`/g)) expect(text, `${path}: ${name}`).toContain(name);
  }
});
