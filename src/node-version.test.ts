import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeTooOld, nodeVersionMin } from "./node-version.ts";

test("an old Node is told from one that will do, as package.json says it", () => {
  expect(JSON.parse(readFileSync("package.json", "utf8")).engines.node).toBe(`>=${nodeVersionMin}`);
  expect(["24.15.0", "24.21.0", "25.0.0", "100.1.0"].map(nodeTooOld)).toEqual(Array.from({ length: 4 }));
  for (const old of ["24.14.9", "22.99.0", "20.20.2"]) expect(nodeTooOld(old)).toContain("24.15 or newer");
});
