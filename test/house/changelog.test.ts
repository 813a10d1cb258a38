import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const lineCountMax = 60;
const sections = readFileSync("CHANGELOG.md", "utf8")
  .split(/^(?=## )/m)
  .slice(1);

describe.each(sections.map((section) => [section.split("\n", 1)[0]!, section] as const))("%s", (_title, section) => {
  test("begins with what concerns the promise, and fits one screen", () => {
    const [first] = /(?<=^### ).*/m.exec(section) ?? [];
    expect(first).toBe("Safety");
    expect(section.trimEnd().split("\n").length).toBeLessThanOrEqual(lineCountMax);
  });

  test("says what is there, not what was different before", () => {
    expect(section.match(/.*\b(?:used to|no longer|any more)\b.*/g) ?? []).toEqual([]);
  });
});
