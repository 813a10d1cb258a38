import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filesWithVersion, ownVersion } from "../../tools/versions.ts";

test("every place has the version of package.json", () => {
  const files = filesWithVersion(ownVersion());
  expect(files.size).toBeGreaterThan(8);
  for (const [path, text] of files) expect(readFileSync(path, "utf8"), `${path}: run npm run generate`).toBe(text);
});

test("another version reaches every place, and nothing else", () => {
  for (const [path, text] of filesWithVersion("9.8.7")) {
    const changed = text.split("\n").filter((line) => line.includes("9.8.7"));
    expect(changed.length, path).toBeGreaterThan(0);
    expect(text.replaceAll("9.8.7", ownVersion()), path).toBe(readFileSync(path, "utf8"));
  }
});

test("each client that is published alone brings the licence", () => {
  const licence = readFileSync("LICENSE", "utf8");
  for (const client of ["go", "java", "python", "typescript"])
    expect(readFileSync(`clients/${client}/LICENSE`, "utf8"), client).toBe(licence);
});
