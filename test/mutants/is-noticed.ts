import type { TestStage } from "./mutated-files.ts";
import { runMutated } from "./run-mutated.ts";
import type { SourceMutant } from "./source-mutants.ts";

/** Runs the tests of some stages on a mutant, and tells whether one of them failed or hung. */
export async function isNoticed(
  mutant: Pick<SourceMutant, "file" | "text">,
  stages: readonly TestStage[],
): Promise<boolean> {
  for (const { tests, pattern } of stages) {
    // A slip can make a loop endless: then it is noticed. Tests on servers take longer on a busy machine.
    const timeoutMs = pattern === undefined ? 300_000 : 900_000;
    const outcomes = await runMutated(mutant, tests, { pattern, timeoutMs });
    if (outcomes === undefined || [...outcomes.values()].some(({ status }) => status === "failed")) return true;
  }
  return false;
}
