import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { expect, test } from "vitest";

const tracked = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n");

test("every file and folder that docs/architecture.md names is there", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  const named = [...page.matchAll(/`((?:src|web|test|proto|model|clients)\/[\w./-]*)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(60);
  const isThere = (path: string): boolean =>
    path.endsWith("/") ? tracked.some((file) => file.startsWith(path)) : tracked.includes(path);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test("every folder of src/ is in the code map of docs/architecture.md, by itself or in a row of the folder above it", () => {
  const [, map = ""] = readFileSync("docs/architecture.md", "utf8").split("## Code map\n");
  const rows = map.split("\n## ")[0]!;
  const folders = new Set(tracked.filter((path) => /^src\/(?!gen\/).+\//.test(path)).map((path) => dirname(path)));
  expect(folders.size).toBeGreaterThan(25);
  const hasRow = (folder: string): boolean => rows.includes(`| \`${folder}/\` `);
  const isNamedAbove = (folder: string): boolean => {
    const above = rows.split("\n").filter((line) => line.startsWith(`| \`${dirname(folder)}/\` `));
    return above.join("\n").includes(`\`${folder.slice(dirname(folder).length + 1)}/\``);
  };
  expect([...folders].filter((folder) => folder !== "src" && !hasRow(folder) && !isNamedAbove(folder))).toEqual([]);
});

test("docs/architecture.md opens with one drawing, for light and dark pages, and says what it shows to people who cannot see it", () => {
  const [opening = ""] = readFileSync("docs/architecture.md", "utf8").split("\n## ");
  expect([...opening.matchAll(/!\[[^\]]{40,}\]\(([^)]+)\)/g)].map(([, path]) => path)).toEqual(["pictures/mark.svg"]);
  const drawing = readFileSync("docs/pictures/mark.svg", "utf8");
  for (const part of ["<title ", "<desc ", "prefers-color-scheme: dark"]) expect(drawing).toContain(part);
});

/** The ways that docs/architecture.md describes, with their files in order. */
function waysThroughCode(): readonly { readonly name: string; readonly files: readonly string[] }[] {
  const [, section = ""] = readFileSync("docs/architecture.md", "utf8").split("\n## Six ways through the code\n");
  const [ways = ""] = section.split("\n## ");
  return ways
    .split(/^- \*\*/m)
    .slice(1)
    .map((way) => ({
      name: way.split("**")[0]!,
      files: [...way.matchAll(/`(src\/[^`]+)`/g)].map(([, file = ""]) => file),
    }));
}

test("each way through the code has at most six files, and each is imported by one before it, or imports one", () => {
  const ways = waysThroughCode();
  const names = ["NextId", "A renewal", "A setting", "Parse", "A take of values", "A command"];
  expect(ways.map(({ name }) => name)).toEqual(names);
  const imported = new Map(ways.flatMap(({ files }) => files).map((file) => [file, importsOf(file)]));
  for (const { name, files } of ways) {
    expect(files.length, name).toBeLessThanOrEqual(6);
    const lost = files.slice(1).filter((file, index) => {
      const before = files.slice(0, index + 1);
      return !before.some((other) => imported.get(other)!.has(file) || imported.get(file)!.has(other));
    });
    expect(lost, name).toEqual([]);
  }
});

function importsOf(path: string): ReadonlySet<string> {
  const names = readFileSync(path, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g);
  return new Set([...names].map(([, name = ""]) => posix.join(dirname(path), name)));
}

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
