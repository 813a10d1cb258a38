import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readmesWithSamples } from "../../tools/readme-samples.ts";

test("the READMEs show their samples as they are", () => {
  const readmes = readmesWithSamples();
  expect(readmes.size).toBeGreaterThan(0);
  for (const [path, content] of readmes) expect(readFileSync(path, "utf8"), "Run npm run generate.").toBe(content);
});
