import { describe, test } from "vitest";
import { checks } from "../../model/checks.ts";
import { runCheck } from "../../model/run-check.ts";
import { findTool } from "../support/fetch/tools.ts";

/** Enough for the largest of the suite on one busy core; a run that needs more fails as `cut`. */
const limits = { timeoutMs: 900_000, memoryMib: 3_000 };

describe.concurrent("the protocol's models", () => {
  for (const check of checks.filter(({ size }) => size === "suite")) {
    test(`${check.model}: ${check.title}`, async ({ expect }) => {
      const spin = await findTool("spin");
      const finding = await runCheck(check, spin.path, limits);
      expect(finding.outcome, finding.output).toBe(check.expected);
      expect(finding.states).toBeGreaterThan(0);
    });
  }
});
