import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readTestSuites } from "../../tools/test-suites.ts";

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

test("CONTRIBUTING.md has a line for each script of package.json: those of three programs were missing", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object };
  const listed = [...readFileSync("CONTRIBUTING.md", "utf8").matchAll(/^\| `npm (?:run )?([\w:-]+)[^`]*` +\|/gm)];
  const names = new Set(listed.map(([, name]) => name));
  // npm calls this one.
  const own = Object.keys(scripts).filter((name) => name !== "prepack");
  expect(own.filter((name) => !names.has(name))).toEqual([]);
  expect([...names].filter((name) => !own.includes(name!))).toEqual([]);
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
  expect(suites.filter(({ budgetMinutes }) => budgetMinutes === undefined).map(({ name }) => name)).toEqual([
    "kube",
    "examples",
    "samples",
    "release",
  ]);
});
