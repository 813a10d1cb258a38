import { describe, expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { runSeeds } from "./run-seeds.ts";

/** What the run shows, for whoever reads its output. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Within so many seeds the outside checker must see that a rule is gone. */
const seedsMax = 1_000;

describe("the simulation sees when the protocol goes without the rule that", () => {
  for (const { name, rule } of mutants.filter(({ isHeld }) => isHeld)) {
    test(`${rule} (${name})`, { timeout: 600_000 }, async () => {
      const { broken } = await runSeeds({ first: 1, count: seedsMax, processes: 2, mutant: name, stopsAtFirst: true });
      const first = broken[0];
      expect(first).toBeDefined();
      const { promise, detail } = first!.violations[0]!;
      print(`${name}: seed ${first!.seed} breaks ${promise}: ${detail}`);
    });
  }
});
