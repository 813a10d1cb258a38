import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../fault/fault.ts";
import { faults } from "../fault/run-fault.ts";

const text = readFileSync("docs/reports/faults.md", "utf8");
const table = text.slice(text.indexOf("| fault | what holds | shown by |"));
const rows = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2);
const links = rows.map((row) => [...row.matchAll(/\[([^\]]+)\]\(\.\.\/\.\.\/([^)]+)\)/g)]);

/** Whether the test or fault `name` is in the file at `path`. A list of faults is asked: it may make up its names. */
async function isThere(name: string, path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  if (!/^test\/fault\/.*-faults\.ts$/.test(path)) return readFileSync(path, "utf8").includes(name);
  const lists = Object.values((await import(resolve(path))) as Readonly<Record<string, readonly Fault[]>>);
  return lists.flat().some((fault) => fault.name === name);
}

test("each row of the table of faults names a test that is there", async () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((_, index) => links[index]?.length === 0)).toEqual([]);
  const named = links.flat().map(([link, name = "", path = ""]) => ({ link, name, path }));
  const found = await Promise.all(named.map(({ name, path }) => isThere(name, path)));
  expect(named.filter((_, index) => !found[index]).map(({ link }) => link)).toEqual([]);
});

test("each fault that is injected into real servers has its place in the table", () => {
  const named = new Set(links.flat().map(([, name]) => name));
  expect(faults.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});
