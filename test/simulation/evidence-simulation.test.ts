import { describe, expect, onTestFinished, test } from "vitest";
import type { SequenceMutant } from "../support/worlds/memory-sequences.ts";
import { scale } from "../support/worlds/scale.ts";
import { runEvidenceHistory } from "./evidence-history.ts";
import { type EvidenceMutant, leaveOut } from "./evidence-mutants.ts";

test("every loss that a living server can see is found, nothing else is, and what was left out never comes", async () => {
  const events = new Map<string, number>();
  for (let seed = 1; seed <= 400 * scale; seed += 1) {
    const outcome = await runEvidenceHistory(seed);
    expect(outcome.faults, `seed ${seed}`).toEqual([]);
    for (const [event, count] of outcome.events) events.set(event, (events.get(event) ?? 0) + count);
  }
  // The histories hold what they are to hold.
  const wanted = ["answered", "went back", "edited", "repair", "raise", "raise seen by all", "given-back"];
  expect(wanted.filter((event) => (events.get(event) ?? 0) < 100)).toEqual([]);
});

/** Within this many seeds, from the one that is known on, a history must show that a rule is gone. */
const seedsMax = 1_000;

describe("a history shows it when", () => {
  test.each<[rule: string, mutant: EvidenceMutant, caughtBySeed: number]>([
    ["a look does not compare the rows", "no-look", 1],
    ["a look writes nothing, so that an idle server has no evidence", "no-line-of-looks", 1],
    ["a row that is missing passes", "absent-row-passes", 100],
    ["what is in memory stays after a loss", "stock-stays-after-a-loss", 1],
    ["a definition of a newer epoch leaves what is in memory", "epoch-is-passed-over", 1],
  ])("%s", async (_, mutant, caughtBySeed) => {
    onTestFinished(leaveOut(mutant));
    await expectFault(caughtBySeed, undefined);
  });

  test.each<[rule: string, mutant: SequenceMutant, caughtBySeed: number]>([
    ["a take does not compare its row", "take-ignores-witness", 50],
    ["takes are not counted apart", "no-taken-count", 1],
  ])("%s", async (_, mutant, caughtBySeed) => {
    await expectFault(caughtBySeed, mutant);
  });
});

async function expectFault(firstSeed: number, mutant: SequenceMutant | undefined): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + seedsMax; seed += 1) {
    if ((await runEvidenceHistory(seed, mutant)).faults.length > 0) return;
  }
  expect.fail("no seed shows it");
}
