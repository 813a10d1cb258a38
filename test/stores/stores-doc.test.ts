import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { storesDoc } from "../house/stores-doc.ts";

const links = [...storesDoc.matchAll(/\[test\]\(\.\.\/(?<file>[^ )]+) "(?<title>[^"]+)"\)/g)].map(
  ({ groups }) => groups!,
);

test("every test that docs/stores.md names is there", () => {
  expect(links.length).toBeGreaterThan(20);
  const absent = links.filter(({ file, title }) => !existsSync(file!) || !readFileSync(file!, "utf8").includes(title!));
  expect(absent).toEqual([]);
});

test("every line of the table of losses names its test", () => {
  const lines = storesDoc.slice(storesDoc.indexOf("| store | loss |"), storesDoc.indexOf("The rows that say"));
  const rows = lines.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| store"));
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((row) => !row.includes("[test]("))).toEqual([]);
});
