import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { drawRun } from "../simulation/shown/draw-run.ts";
import type { HashOutcome, HashWork } from "../simulation/shown/hash-lane.ts";
import { type SwitchedRule, switchedRules } from "../simulation/shown/rule-names.ts";
import { type ShownRun, writeRunLink } from "../simulation/shown/run-link.ts";
import { shownRules } from "../simulation/shown/shown-rules.ts";
import { runInBrowser } from "../support/web/simulation-worker.ts";
import { webWorld } from "../support/web/web-world.ts";
import { sized } from "../support/worlds/scale.ts";

/** The simulation of `#/proof`, as it is shipped: in a browser it has the histories that it has in Node. */

const world = webWorld();
const execute = promisify(execFile);

/** The outcomes of runs in Node, in a process of its own. */
async function runInNode(work: HashWork): Promise<readonly HashOutcome[]> {
  const lane = "test/simulation/shown/hash-lane.ts";
  const { stdout } = await execute(process.execPath, [lane, JSON.stringify(work)], { timeout: 150_000 });
  return JSON.parse(stdout) as HashOutcome[];
}

/** 60 runs that seeds draw, and those that the view names for the rule. */
function runsWithout(rule: SwitchedRule | undefined): readonly ShownRun[] {
  const drawn = Array.from({ length: 60 }, (_, index) => ({ ...drawRun(index + 1), rule }));
  if (rule === undefined) return drawn;
  const { seeds, store, faults } = shownRules[rule];
  return [...drawn, ...seeds.map((seed) => ({ seed, store, rule, faults }))];
}

const cases = [
  ["with all rules", undefined],
  ...switchedRules.map((rule) => [`without ${rule}`, rule] as const),
] as const;

test.each(cases)("a run %s has one history in Node and in Chromium", async (_name, rule) => {
  const page = await world.open({ context: { bypassCSP: true } });
  const runs = runsWithout(rule);
  const [inNode, inChromium] = await Promise.all([
    runInNode({ sources: rule === undefined ? "plain" : "patched", rule, seeds: [], runs }),
    runInBrowser(page, runs),
  ]);
  for (const [index, run] of runs.entries()) {
    const answer = inChromium[index]!;
    if ("failure" in answer) expect(answer.failure).toBe(inNode[index]!.hash);
    else {
      expect(answer, writeRunLink(run)).toMatchObject(inNode[index]!);
      // The view finds equal IDs by the IDs alone, and the checker by what it knows of each grant.
      expect([writeRunLink(run), answer.equalCount > 0]).toEqual([writeRunLink(run), answer.violations.includes("S1")]);
    }
  }
  // Those that the view names for the rule come last, and each shows it.
  const named = inChromium.slice(60).map((answer) => "equalCount" in answer && answer.equalCount > 0);
  expect(named).toEqual(runs.slice(60).map(() => true));
});

test("in a browser, too, no faults that a reader drops in give equal IDs while all rules hold", async () => {
  const page = await world.open({ context: { bypassCSP: true } });
  const runs = Array.from({ length: sized(100, 1_000) }, (_, index) => drawRun(index + 1));
  for (const [index, answer] of (await runInBrowser(page, runs)).entries())
    expect(answer, writeRunLink(runs[index]!)).toMatchObject({ violations: [], equalCount: 0 });
});
