import { describe, expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { runSeeds } from "./run-seeds.ts";

/** What the run shows, for whoever reads its output. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Within so many seeds, from the one that is known on, the outside checker must see that a rule is gone. */
const seedsMax = 10_000;

test("each mutant is held by a seed, or by what it names; at least 20 by a seed", () => {
  expect(mutants.filter(({ caughtBySeed, heldBy }) => caughtBySeed === undefined && heldBy === undefined)).toEqual([]);
  expect(mutants.filter(({ caughtBySeed }) => caughtBySeed !== undefined).length).toBeGreaterThanOrEqual(20);
});

describe.concurrent("the simulation sees when the protocol goes without the rule that", () => {
  for (const { name, rule, caughtBySeed } of mutants) {
    if (caughtBySeed === undefined) continue;
    // The known seed catches it at once, until a change of the code or of the plans makes other histories of the seeds.
    test(`${rule} (${name})`, { timeout: 900_000 }, async ({ expect: expectThis }) => {
      const run = { first: caughtBySeed, count: seedsMax, processes: 1, mutant: name, stopsAtFirst: true };
      const [first] = (await runSeeds(run)).broken;
      expectThis(first, `no seed from ${caughtBySeed} on catches ${name}`).toBeDefined();
      const { promise, detail } = first!.violations[0]!;
      print(`${name}: seed ${first!.seed} breaks ${promise}: ${detail}`);
    });
  }
});
