import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filesWithAddress, placeholder, repositoryAddress } from "../../tools/repository-address.ts";

const own = repositoryAddress(".");
const other = "https://github.com/example/ids";

test("every place has the repository of package.json", () => {
  for (const [path, text] of filesWithAddress(own))
    expect(readFileSync(path, "utf8"), `${path}: run npm run generate`).toBe(text);
});

test("another address reaches every place, and nothing else", () => {
  for (const [path, text] of filesWithAddress(other)) {
    expect(text, path).toContain(other);
    expect(text.replaceAll(other, own), path).toBe(readFileSync(path, "utf8"));
  }
});

test("no other file names the repository, so that a change of package.json leaves none behind", () => {
  const files = execFileSync("git", ["grep", "-IlF", own], { encoding: "utf8" }).trim().split("\n");
  const changed = filesWithAddress(other);
  const kept = new Set(["tools/repository-address.ts", "test/house/repository-address.test.ts"]);
  expect(files.filter((path) => !changed.has(path) && !kept.has(path))).toEqual([]);
  expect(placeholder).toContain("/OWNER/");
});
