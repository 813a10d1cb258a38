import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "./fault/run-fault.ts";

const text = readFileSync("docs/safety.md", "utf8");
const table = text.slice(text.indexOf("| fault | what holds | shown by |"));
const rows = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2);
const links = rows.map((row) => [...row.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)]);

test("each row of the table of faults names a test that is there", () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((_, index) => links[index]?.length === 0)).toEqual([]);
  const absent = links.flat().filter(([, name = "", path = ""]) => {
    return !existsSync(path) || !readFileSync(path, "utf8").includes(name);
  });
  expect(absent.map(([link]) => link)).toEqual([]);
});

test("each fault that is laid upon real servers has its place in the table", () => {
  const named = new Set(links.flat().map(([, name]) => name));
  expect(faults.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});

test("what else the page links to in this repository is there", () => {
  const paths = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = ""]) => join("docs", path));
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
