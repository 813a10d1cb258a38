import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { sized } from "../../support/worlds/scale.ts";
import { simulate } from "../simulation.ts";
import type { TraceEvent } from "../trace-event.ts";
import { calmScenario } from "./calm.ts";
import { drawRun } from "./draw-run.ts";
import { calmProcesses, droppedKinds, type DroppedWhat, isPossibleFor } from "./dropped-fault.ts";
import { findEqualIds, longestSilence } from "./equal-ids.ts";
import type { HashOutcome, HashWork } from "./hash-lane.ts";
import { type SwitchedRule, switchedRules } from "./rule-names.ts";
import { readRunLink, type ShownRun, writeRunLink } from "./run-link.ts";
import { shownRules } from "./shown-rules.ts";

const execute = promisify(execFile);

async function outcomesOf(work: HashWork): Promise<readonly HashOutcome[]> {
  const lane = join(import.meta.dirname, "hash-lane.ts");
  const { stdout } = await execute(process.execPath, [lane, JSON.stringify(work)], { timeout: 150_000 });
  return JSON.parse(stdout) as HashOutcome[];
}

function runsOf(rule: SwitchedRule): readonly ShownRun[] {
  const { seeds, store, faults } = shownRules[rule];
  return seeds.map((seed) => ({ seed, store, rule, faults }));
}

/** A run with all rules: its events, and the promises that it breaks. */
async function watch({ seed, store, faults }: Omit<ShownRun, "rule">) {
  const events: TraceEvent[] = [];
  const scenario = calmScenario(seed, store, faults);
  const { violations } = await simulate(seed, { scenario, sink: (event) => events.push(event) });
  return { events, violations };
}

const whats = Object.keys(droppedKinds) as readonly DroppedWhat[];

const seeds = Array.from({ length: 60 }, (_, index) => index + 1);

describe.concurrent("the sources with four switches", () => {
  test("have the histories of the sources as they are while no rule is away", async ({ expect: expectThis }) => {
    const work = { rule: undefined, seeds, runs: seeds.map(drawRun) };
    const [plain, switched] = await Promise.all([
      outcomesOf({ ...work, sources: "plain" }),
      outcomesOf({ ...work, sources: "switched" }),
    ]);
    expectThis(switched).toEqual(plain);
    expectThis(new Set(plain.map(({ hash }) => hash)).size).toBeGreaterThan(100);
  });

  test.each(switchedRules)("have those of the sources without %s where it is switched off", async (rule) => {
    const work = { rule, seeds, runs: runsOf(rule) };
    const [patched, switched] = await Promise.all([
      outcomesOf({ ...work, sources: "patched" }),
      outcomesOf({ ...work, sources: "switched" }),
    ]);
    expect(switched).toEqual(patched);
    // Each seed that the page names for this rule shows it; the rule is what makes the difference.
    expect(switched.slice(seeds.length).map(({ violations }) => violations.includes("S1"))).toEqual(
      runsOf(rule).map(() => true),
    );
    for (const run of runsOf(rule)) expect(findEqualIds((await watch(run)).events)).toEqual([]);
  });
});

test("with all rules no faults that a reader drops in give equal IDs", async () => {
  for (let seed = 1; seed <= sized(100, 1_000); seed++) {
    const run = drawRun(seed);
    const { events, violations } = await watch(run);
    expect(violations, writeRunLink(run)).toEqual([]);
    expect(findEqualIds(events)).toEqual([]);
  }
});

test("all that came before a dropped fault stays as it was, and something after it does not", async () => {
  for (const [index, what] of whats.entries()) {
    for (const atMs of [0, 2_500, 5_000]) {
      const run = { seed: 40 + index, store: isPossibleFor("file", what) ? "file" : "server", faults: [] } as const;
      const { events: before } = await watch(run);
      const { events: after } = await watch({ ...run, faults: [{ what, atMs, process: index % calmProcesses }] });
      const until = (events: readonly TraceEvent[]): readonly TraceEvent[] =>
        events.filter((event) => event.atMs < atMs);
      expect(until(after)).toEqual(until(before));
      expect(after).not.toEqual(before);
    }
  }
});

describe("a link", () => {
  test("gives back the run that it was written of", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const run: ShownRun = Object.assign(drawRun(seed), { rule: [undefined, ...switchedRules][seed % 5] });
      expect(readRunLink(writeRunLink(run))).toEqual(run);
    }
  });

  test("that says nothing, or nonsense, is the first run without faults", () => {
    const first = { seed: 1, store: "server", rule: undefined, faults: [] };
    for (const link of ["", "seed=0", "seed=x&rule=none&store=moon&f=wipe", "f=kill.99999.0,kill.1.9,bang.1.1"])
      expect(readRunLink(link)).toEqual(first);
    expect(readRunLink("store=file&f=wipe.1.0,kill.2.0").faults).toEqual([{ what: "kill", atMs: 2, process: 0 }]);
    expect(readRunLink(`f=${"kill.1.0,".repeat(500)}`).faults.length).toBe(12);
  });
});

test("equal IDs are found by the IDs alone, and the longest silence from the first of them on", () => {
  const issued = (atMs: number, firstId: number, count: number): TraceEvent => ({
    kind: "issued",
    atMs,
    process: "0.1",
    workerIndex: 0,
    firstId: BigInt(firstId),
    count,
    stride: 1n,
    timestampMs: 0,
  });
  const events = [issued(500, 10, 5), issued(600, 20, 5), issued(4_000, 12, 2), issued(4_100, 24, 9)];
  expect(findEqualIds(events).map(({ firstId, count, other }) => [firstId, count, other.atMs])).toEqual([
    [12n, 2, 4_000],
    [24n, 1, 4_100],
  ]);
  expect(findEqualIds(events.slice(0, 2))).toEqual([]);
  expect(longestSilence(events, 7_500)).toEqual({ fromMs: 600, lengthMs: 3_400 });
  // One that lasts until the end counts, too.
  expect(longestSilence(events, 7_501)).toEqual({ fromMs: 4_100, lengthMs: 3_401 });
  expect(longestSilence(events, 500)).toEqual({ fromMs: 0, lengthMs: 0 });
});
