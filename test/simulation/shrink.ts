import type { Fault } from "./fault.ts";
import type { Violation } from "./issue-history.ts";
import { simulate } from "./simulation.ts";

/**
 * Finds a short list of faults with which a seed still breaks a promise: leaves out one after the other as long as it
 * does.
 *
 * @param seed - One that breaks a promise.
 */
export async function shrink(
  seed: number,
): Promise<{ readonly kept: readonly Fault[]; readonly violations: readonly Violation[] }> {
  const { scenario, violations } = await simulate(seed);
  let keep = new Set(scenario.faults.keys());
  let last = violations;
  for (const place of scenario.faults.keys()) {
    const fewer = new Set([...keep].filter((each) => each !== place));
    const outcome = await simulate(seed, { keep: fewer });
    if (outcome.violations.length === 0) continue;
    keep = fewer;
    last = outcome.violations;
  }
  return { kept: scenario.faults.filter((_, place) => keep.has(place)), violations: last };
}
