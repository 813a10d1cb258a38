import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleServer } from "../support/processes/server-bundle.ts";
import { controls } from "./controls.ts";
import type { TrialOutcome } from "./fault-trial.ts";
import { mutants } from "../simulation/mutants.ts";
import { mixedFaults } from "./mixed-faults.ts";
import { faults, runFault, runPieces } from "./run-fault.ts";

/**
 * A server that starts slowly begins above the mark by the clock alone, so a busy machine may hide that a rule is gone.
 * Then further seeds are tried, for the given time.
 */
const controlMinutes = 7;

/**
 * Each fault of run-fault.ts, injected into real servers as often as its `pr` says. The trials begin together where
 * most of their time is waiting, and one after the other where it is work; each test waits for its own.
 */
/** The fifth store of mixed faults, three JVMs, is tried by command alone. */
const all = [...faults, ...mixedFaults.filter(({ name }) => !name.endsWith("zookeeper"))];
const outcomes = new Map<string, Promise<TrialOutcome>>();
const gutted = new Map<string, Promise<TrialOutcome>>();

beforeAll(async () => {
  await bundleServer();
  let work: Promise<unknown> = Promise.resolve();
  for (const [index, fault] of all.entries()) {
    const options = { patience: "test", seed: index + 1, onInjected: () => {}, lanes: 1 } as const;
    const begin = (): Promise<TrialOutcome> => runFault(fault, { ...options, count: fault.counts.pr });
    const isWaiting = fault.lanes > 1;
    const outcome = isWaiting ? begin() : work.then(begin, begin);
    if (!isWaiting) work = outcome;
    // Its test says what became of it.
    outcome.catch(() => {});
    outcomes.set(fault.name, outcome);
    const count = controls[fault.name];
    if (count === undefined) continue;
    const pieces = { ...options, count, minutes: controlMinutes, onPiece: () => {}, gutted: fault.catches };
    const control = work.then(() => runPieces(fault, pieces));
    control.catch(() => {});
    work = control.catch(() => {});
    gutted.set(fault.name, control);
  }
});
// A test that failed leaves others under way: they end by themselves before the file does.
afterAll(async () => void (await Promise.allSettled([...outcomes.values(), ...gutted.values()])));

for (const { name, counts } of all) {
  test(name, async () => {
    const { injectedCount, duplicateCount, problems, issuedCount } = await outcomes.get(name)!;
    expect(problems).toEqual([]);
    expect([injectedCount, duplicateCount]).toEqual([counts.pr, 0]);
    expect(issuedCount).toBeGreaterThan(0);
  });
}

for (const name of Object.keys(controls)) {
  const rule = mutants.find((mutant) => mutant.name === all.find((fault) => fault.name === name)?.catches)?.rule;
  test(`without the rule that ${rule}: ${name}`, async () => {
    const { problems } = await gutted.get(name)!;
    expect(problems).toContainEqual(expect.stringMatching(/ begins below the mark | in the piece of /));
  });
}

test("each row names a mutant that it catches, or says that it shows availability alone", () => {
  const names = new Set(["availability", ...mutants.map(({ name }) => name)]);
  expect(all.filter(({ catches }) => !names.has(catches)).map(({ name }) => name)).toEqual([]);
});
