import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiFiles } from "../../tools/generate-api.ts";
import { caughtFile, caughtPage } from "../../tools/generate-caught.ts";
import { metricsPage } from "../../tools/generate-metrics.ts";
import { llmsIndex } from "../../tools/llms-index.ts";

test.each([
  ...apiFiles(),
  ["llms.txt", llmsIndex()] as const,
  ["docs/metrics.md", metricsPage()] as const,
  [caughtFile, caughtPage()] as const,
])("%s is fresh", (path, text) => {
  expect(readFileSync(path, "utf8"), "Run npm run generate typescript.").toBe(text);
});
