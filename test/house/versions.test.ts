import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { filesWithVersion, ownVersion } from "../../tools/versions.ts";

test("every place has the version of package.json", () => {
  const files = filesWithVersion(ownVersion());
  expect(files.size).toBeGreaterThan(8);
  for (const [path, text] of files) expect(readFileSync(path, "utf8"), `${path}: run npm run generate`).toBe(text);
});

test("places that have the version are left alone (after npm run generate, the next command installed everything again)", () => {
  const timesOf = () => [...filesWithVersion(ownVersion()).keys()].map((path) => statSync(path).mtimeMs);
  const before = timesOf();
  execFileSync(process.execPath, ["tools/versions.ts"]);
  expect(timesOf()).toEqual(before);
});

test("another version reaches every place, and nothing else", () => {
  for (const [path, text] of filesWithVersion("9.8.7")) {
    const changed = text.split("\n").filter((line) => line.includes("9.8.7"));
    expect(changed.length, path).toBeGreaterThan(0);
    expect(text.replaceAll("9.8.7", ownVersion()), path).toBe(readFileSync(path, "utf8"));
  }
});

/** Files that may have the number of the present version and keep it, each with the reason. */
const keptNumbers: readonly (readonly [file: RegExp, reason: string])[] = [
  [/^package\.json$/, "the one place"],
  [/(^|\/)(package-lock\.json|go\.sum|Cargo\.lock|requirements\.txt)$/, "the versions of others"],
  [/^docs\/reports\/openapi\.json$/, "written by another program, from the same place"],
  [/^CHANGELOG\.md$|^docs\/pictures\//, "what once happened"],
  [/^src\/lease\/records\/[\w-]+\.test\.ts$|^test\/simulation\/fleet\/fleet\.ts$/, "a record of any version"],
  [/^test\/stores\/upgrade\//, "a build that stays as it is"],
];

test("no line has the present version that a release would leave behind (the executable's were forgotten)", () => {
  const version = ownVersion().replaceAll(".", String.raw`\.`);
  const present = `(^|[^0-9.])${version}([^0-9]|$)`;
  const files = execFileSync("git", ["grep", "-IlE", present], { encoding: "utf8" }).trim().split("\n");
  const raised = filesWithVersion("9.8.7");
  const left = files
    .filter((path) => !keptNumbers.some(([file]) => file.test(path)))
    .filter((path) => new RegExp(present, "m").test(raised.get(path) ?? readFileSync(path, "utf8")));
  expect(left, "add the place to tools/versions.ts").toEqual([]);
  expect(files).toEqual(expect.arrayContaining([...raised.keys()]));
});

test("each client that is published alone brings the licence", () => {
  const licence = readFileSync("LICENSE", "utf8");
  for (const client of ["go", "java", "php", "python", "rust", "typescript"])
    expect(readFileSync(`clients/${client}/LICENSE`, "utf8"), client).toBe(licence);
});
