import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readTestSuites, suitesApart } from "../../tools/test-suites.ts";

const suites = readTestSuites();
const tracked = execFileSync("git", ["ls-files", "*.test.ts"], { encoding: "utf8" }).trim().split("\n");

test("every test file is in a suite of CONTRIBUTING.md, and every folder of the table holds some", () => {
  const listed = new Set(suites.flatMap(({ files }) => files));
  expect(tracked.filter((path) => !listed.has(path))).toEqual([]);
  const empty = suites.flatMap(({ name, folders, files }) =>
    folders.filter((folder) => !files.some((file) => file.startsWith(folder))).map((folder) => `${name}: ${folder}`),
  );
  expect(empty).toEqual([]);
});

test("CONTRIBUTING.md names each script of package.json, in at most 12 lines for at most 18 scripts (it had 31 of each)", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object };
  const [, table = ""] = /^\| command .*\n\| ---.*\n((?:\|.*\n)+)/m.exec(readFileSync("CONTRIBUTING.md", "utf8")) ?? [];
  const rows = table.trim().split("\n");
  const names = rows.flatMap((row) => {
    const [, commands = ""] = row.split("|");
    return [...commands.matchAll(/`npm (?:run )?([\w:-]+)[^`]*`/g)].map(([, name]) => name!);
  });
  // npm calls this one.
  const own = Object.keys(scripts).filter((name) => name !== "prepack");
  expect(names.toSorted()).toEqual(own.toSorted());
  expect(own.length).toBeLessThan(18);
  expect(rows.length).toBeLessThan(13);
});

test("a file belongs to the deepest folder that is named, and to two suites where both name it", () => {
  const suitesOf = (file: string): readonly string[] =>
    suites.filter(({ files }) => files.includes(file)).map(({ name }) => name);
  expect(suitesOf("src/store/redis.test.ts")).toEqual(["stores"]);
  expect(suitesOf("src/store/sqlite/record-file.test.ts")).toEqual(["core"]);
  expect(suitesOf("src/text/uuid.test.ts")).toEqual(["text"]);
  expect(suitesOf("test/server/http.test.ts")).toEqual(["core", "http2"]);
});

test("the suites of npm test have a budget, and the others have none", () => {
  expect(suitesApart()).toEqual(["kube", "examples", "samples", "release"]);
});
