import { array, assert, boolean, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { StepPolicy } from "./step-policy.ts";

test("a step stays in its bounds, and comes nearer to a quarter of an hour's values, by no more than its factor", () => {
  const bounds = record({ stepMin: integer({ min: 1, max: 10_000 }), more: integer({ min: 0, max: 1_000_000 }) });
  const measure = record({
    usedCount: integer({ min: 0, max: 1_000_000 }),
    elapsedMs: integer({ min: 0, max: 100_000_000 }),
    isStarved: boolean(),
  });
  assert(
    property(bounds, array(measure, { minLength: 1, maxLength: 30 }), ({ stepMin, more }, measures) => {
      const stepMax = stepMin + more;
      const policy = new StepPolicy({ stepMin, stepMax });
      const within = (step: number): number => Math.min(Math.max(Math.round(step), stepMin), stepMax);
      let before = policy.next(measures[0]!);
      expect(before).toBe(stepMin);
      for (const taken of measures.slice(1)) {
        const target = within((taken.usedCount / Math.max(taken.elapsedMs, 1)) * 15 * 60_000);
        const step = policy.next(taken);
        // From the last step to the target, or as far towards it as the factor allows.
        const farthest = target > before ? before * (taken.isStarved ? 8 : 2) : before / 2;
        const nearer = target > before ? Math.min(target, within(farthest)) : Math.max(target, within(farthest));
        expect(step).toBe(nearer);
        before = step;
      }
    }),
  );
});
