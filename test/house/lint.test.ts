import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("types, lint, format, dead code and protos are clean, and the protos break no client", () => {
  const result = spawnSync(process.execPath, ["tools/lint.ts"], { encoding: "utf8" });
  expect(result.status, `npm run lint says:\n${result.stdout}${result.stderr}`).toBe(0);
});
