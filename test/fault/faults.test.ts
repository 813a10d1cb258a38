import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleServer, type TrialOutcome } from "./fault-trial.ts";
import { faults, runFault } from "./run-fault.ts";

/**
 * Each fault of run-fault.ts, injected into real servers as often as its `pr` says. The trials begin together where
 * most of their time is waiting, and one after the other where it is work; each test waits for its own.
 */
const outcomes = new Map<string, Promise<TrialOutcome>>();

beforeAll(async () => {
  await bundleServer();
  let work: Promise<unknown> = Promise.resolve();
  for (const [index, fault] of faults.entries()) {
    const options = { patience: "test", seed: index + 1, onInjected: () => {}, lanes: 1 } as const;
    const begin = (): Promise<TrialOutcome> => runFault(fault, { ...options, count: fault.counts.pr });
    const isWaiting = fault.lanes > 1;
    const outcome = isWaiting ? begin() : work.then(begin, begin);
    if (!isWaiting) work = outcome;
    // Its test says what became of it.
    outcome.catch(() => {});
    outcomes.set(fault.name, outcome);
  }
});
// A test that failed leaves others under way: they end by themselves before the file does.
afterAll(async () => void (await Promise.allSettled(outcomes.values())), 600_000);

for (const { name, counts } of faults) {
  test(name, { timeout: 600_000 }, async () => {
    const { injectedCount, duplicateCount, problems, issuedCount } = await outcomes.get(name)!;
    expect(problems).toEqual([]);
    expect([injectedCount, duplicateCount]).toEqual([counts.pr, 0]);
    expect(issuedCount).toBeGreaterThan(0);
  });
}
