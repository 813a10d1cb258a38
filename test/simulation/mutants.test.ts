import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { runMutated } from "../mutants/run-mutated.ts";
import { patched } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { runSeeds } from "./run-seeds.ts";

/** Prints a result of the run for people. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Within this many seeds, from the one that is known on, the outside checker must see that a rule is gone. */
const seedsMax = 100;

test("each mutant is held by a seed, or by a test that fails with it; at least 20 by a seed", () => {
  expect(mutants.filter(({ caughtBySeed, heldBy }) => (caughtBySeed === undefined) === (heldBy === undefined))).toEqual(
    [],
  );
  expect(mutants.filter(({ caughtBySeed }) => caughtBySeed !== undefined).length).toBeGreaterThanOrEqual(20);
});

describe.concurrent("the simulation sees when the protocol goes without the rule that", () => {
  for (const { name, rule, caughtBySeed, world } of mutants) {
    if (caughtBySeed === undefined) continue;
    // The known seed catches it at once, until a change of the code or of the plans makes other histories of the seeds.
    // The next ones do then, as a rule; where a hundred do not, the known one is stale.
    test(`${rule} (${name})`, async ({ expect: expectThis }) => {
      const run = { first: caughtBySeed, count: seedsMax, processes: 1, mutant: name, world, stopsAtFirst: true };
      const [first] = (await runSeeds(run)).broken;
      expectThis(first, `seed ${caughtBySeed} is stale: npm run simulate -- --mutant ${name} --write`).toBeDefined();
      const { promise, detail } = first!.violations[0]!;
      print(`${name}: seed ${first!.seed} breaks ${promise}: ${detail}`);
    });
  }
});

describe.concurrent("a test of its own fails when the protocol goes without the rule that", () => {
  for (const mutant of mutants) {
    const { name, rule, file, heldBy } = mutant;
    if (heldBy === undefined) continue;
    test(`${rule} (${name})`, async ({ expect: expectThis }) => {
      const text = patched(await readFile(file, "utf8"), mutant);
      const outcomes = await runMutated({ file, text }, [heldBy.file], { only: heldBy.test, timeoutMs: 600_000 });
      const outcome = outcomes?.get(heldBy.test);
      expectThis(outcome, `${heldBy.file} has no test "${heldBy.test}"`).toBeDefined();
      expectThis(outcome!.status, `${heldBy.test} is passed by ${name}`).toBe("failed");
      print(`${name}: ${outcome!.problem}`);
    });
  }
});
