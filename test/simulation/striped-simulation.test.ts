import { describe, expect, test } from "vitest";
import { runStripedHistory, type StripeMutant } from "./striped-history.ts";

test("no history over several databases hands out a value twice, or stops one", async () => {
  const events = new Map<string, number>();
  for (let seed = 1; seed <= 300; seed += 1) {
    const outcome = await runStripedHistory(seed);
    expect(outcome.faults, `seed ${seed}`).toEqual([]);
    for (const [event, count] of outcome.events) events.set(event, (events.get(event) ?? 0) + count);
  }
  // The histories hold what they are to hold.
  const wanted = ["answered", "created", "added", "stripe-problem", "stripe-answers", "given-back"];
  expect(wanted.filter((event) => (events.get(event) ?? 0) < 50)).toEqual([]);
});

/** Within this many seeds, from the one that is known on, a history must show that a rule is gone. */
const seedsMax = 2_000;

// That the list of databases is changed by comparison alone is held by a test of the contract: without it, a database
// that lost its stripe to another is refused, and no value comes twice.
describe("a history over several databases shows it when", () => {
  test.each<[rule: string, mutant: StripeMutant, caughtBySeed: number]>([
    ["a database's stripe is its position in the list", "stripe-by-position", 1],
    ["a database is asked for a counter again before it has answered", "two-takes-of-a-counter", 16],
    ["the stride is the number of databases that are named", "stride-by-urls", 8],
  ])("%s", async (_, mutant, caughtBySeed) => {
    for (let seed = caughtBySeed; seed < caughtBySeed + seedsMax; seed += 1) {
      const { faults } = await runStripedHistory(seed, mutant);
      if (faults.length > 0) return;
    }
    expect.fail(`no seed shows ${mutant}`);
  });
});
