import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** How much there is to read. Pages grow by themselves, and nobody notices the sentence that is one too many. */
const textOf = (path: string): string => readFileSync(path, "utf8");
/** As `wc -w` counts. */
const wordsOf = (path: string): number => textOf(path).match(/\S+/g)?.length ?? 0;
const pages = globSync("docs/*.md");
/** What a reader looks up, one section at a time. */
const references = ["docs/tools.md", "docs/languages.md", "docs/frameworks.md"];

test("the README is read in one go: below 130 lines", () => {
  expect(textOf("README.md").split("\n").length).toBeLessThanOrEqual(130);
});

test("no page of docs/ is longer than 4,000 words", () => {
  expect(pages.filter((path) => wordsOf(path) > 4_000).map((path) => `${path}: ${wordsOf(path)}`)).toEqual([]);
});

test("all pages together have at most 80,000 words, without reports, evidence and references", () => {
  const read = [...pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "clients/README.md"];
  const counted = read.filter((path) => !references.includes(path));
  expect(counted.length).toBe(read.length - references.length);
  expect(counted.map(wordsOf).reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(80_000);
});
