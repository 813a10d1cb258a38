import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeTooOld, nodeVersionMin, runtimeProblem } from "./node-version.ts";

test("an old Node is distinguished from one that will do, as package.json says it", () => {
  expect(JSON.parse(readFileSync("package.json", "utf8")).engines.node).toBe(`>=${nodeVersionMin}`);
  expect(["24.15.0", "24.21.0", "25.0.0", "100.1.0"].map(nodeTooOld)).toEqual(Array.from({ length: 4 }));
  for (const old of ["24.14.9", "22.99.0", "20.20.2"]) expect(nodeTooOld(old)).toContain("24.15 or newer");
});

test("NEWCOMER 7: Bun and Deno get one sentence that names the version of Node and the client, and Node gets none", () => {
  const sentence = "snowlane needs Node 24.15 or newer. Call a server with @snowlane/client instead.";
  expect(runtimeProblem({ node: "24.20.0", bun: "1.4.5" })).toBe(`This is Bun; ${sentence}`);
  expect(runtimeProblem({ node: "24.20.0", deno: "2.8.0" })).toBe(`This is Deno; ${sentence}`);
  expect(runtimeProblem({ node: "24.20.0" })).toBeUndefined();
  expect(runtimeProblem({ node: "22.20.0" })).toContain("24.15 or newer");
});
