import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiFiles } from "../../tools/generate-api.ts";
import { caughtFile, caughtPage } from "../../tools/generate-caught.ts";
import { metricsPage } from "../../tools/generate-metrics.ts";
import { waysFile, waysPage } from "../../tools/generate-ways.ts";
import { llmsIndex } from "../../tools/llms-index.ts";

test.each([
  ...apiFiles(),
  ["llms.txt", llmsIndex()] as const,
  ["docs/metrics.md", metricsPage()] as const,
  [caughtFile, caughtPage()] as const,
  [waysFile, waysPage()] as const,
])("%s is fresh", (path, text) => {
  expect(readFileSync(path, "utf8"), "Run npm run generate typescript.").toBe(text);
});

test("every method of every service has one way, and none is hot and takes an object for a message", () => {
  const rows = [...waysPage().matchAll(/^\| (\w+) \| (\w+) \| (hot|direct|general) \| (yes|no) \|$/gm)];
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter(([, , , way, json]) => way !== "hot" && json === "yes")).toEqual([]);
  expect(rows.find(([, , method]) => method === "Parse")?.[3]).toBe("direct");
  expect(rows.find(([, , method]) => method === "CreateSequence")?.[3]).toBe("general");
});
