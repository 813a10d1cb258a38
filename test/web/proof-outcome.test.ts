import { describe, expect, test } from "vitest";
import { lanesOf } from "../../web/proof/run/lanes.ts";
import { runShown } from "../../web/proof/run/run-shown.ts";
import { runSimpleGenerators } from "../../web/proof/run/simple-generator.ts";
import { drawRun } from "../simulation/shown/draw-run.ts";
import { calmMs, droppedKinds } from "../simulation/shown/dropped-fault.ts";
import { writeRunLink } from "../simulation/shown/run-link.ts";
import type { TraceEvent } from "../simulation/trace-event.ts";

/** The parts of Proof that say what a run was: in Node, by the same code as in the worker. */

const calm = { seed: 1, store: "server", rule: undefined } as const;

test("the lanes of a run have all its IDs, each under a grant of its worker ID that goes on at that time", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const run = drawRun(seed);
    const { lanes, runs, issued, endMs } = await runShown(run);
    const grants = lanes.flatMap(({ grants }) => grants);
    expect([writeRunLink(run), grants.reduce((sum, { count }) => sum + count, 0)]).toEqual([writeRunLink(run), issued]);
    for (const { atMs, slot, worker } of runs) {
      const under = lanes[slot]!.grants.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs);
      expect(under.map((grant) => grant.worker)).toContain(worker);
    }
    for (const { fromMs, toMs } of grants) expect(0 <= fromMs && fromMs <= toMs && toMs <= endMs).toBe(true);
  }
});

test("while all rules hold, no grant begins below a mark, and every fault that met its process is reported", async () => {
  for (let seed = 41; seed <= 80; seed++) {
    const { story, faults, equal } = await runShown(drawRun(seed));
    const kinds = story.map(({ kind }) => kind);
    expect(equal).toBeUndefined();
    expect(kinds).not.toContain("granted-below");
    expect(kinds).toContain("healed");
    expect(story.map(({ atMs }) => atMs)).toEqual(story.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    for (const { what, atMs } of faults) {
      const told = story.filter((happening) => happening.atMs === atMs);
      const isClock = what === "back" || what === "ahead";
      expect(told.map(({ kind }) => kind)).toContain(isClock ? "clock" : "fault");
    }
  }
});

test("a run without faults is shown without one, and each fault that can be dropped in is shown once", async () => {
  const quiet = await runShown({ ...calm, faults: [] });
  expect(quiet.faults).toEqual([]);
  expect(quiet.lanes.flatMap(({ stops }) => stops)).toEqual([]);
  // From its start to its grant each process has none.
  for (const { waits, grants } of quiet.lanes) {
    expect(waits).toEqual([{ fromMs: 0, toMs: grants[0]!.fromMs }]);
    expect(grants).toHaveLength(1);
  }
  for (const what of Object.keys(droppedKinds) as readonly (keyof typeof droppedKinds)[]) {
    const { faults, story } = await runShown({ ...calm, faults: [{ what, atMs: 3_000, process: 1 }] });
    expect(faults.map((fault) => fault.what)).toEqual([what]);
    expect(faults[0]!.atMs).toBeGreaterThanOrEqual(3_000);
    expect(story.length).toBeGreaterThan(quiet.story.length);
  }
});

describe("a simple generator", () => {
  const clock = (atMs: number, aheadMs: number): TraceEvent => ({ kind: "clock", atMs, slot: 0, aheadMs });
  const killed = (fromMs: number, toMs: number): readonly TraceEvent[] => [
    { kind: "crash", atMs: fromMs, process: "0.1" },
    { kind: "start", atMs: toMs, slot: 0, process: "0.2" },
  ];
  // None in the millisecond in which it starts.
  const all = 3 * 5 * (calmMs - 1);
  const outcomeOf = (events: readonly TraceEvent[]) => runSimpleGenerators(events, lanesOf(events, 12_000));

  test("draws 5 IDs a millisecond in each of three processes from its second on, and repeats none by itself", () => {
    expect(outcomeOf([])).toEqual({ issued: all, equalCount: 0, firstEqualMs: undefined });
  });

  test("repeats none where its clock is set back, or where it is killed, alone", () => {
    // It refuses for that second.
    expect(outcomeOf([clock(4_000, -1_000)])).toMatchObject({ issued: all - 4_995, equalCount: 0 });
    expect(outcomeOf(killed(4_000, 4_100))).toMatchObject({ issued: all - 505, equalCount: 0 });
  });

  test("repeats the IDs between its clock and its last time where both happen", () => {
    // It begins again at 3,601, and had come to 4,000 when its clock was set back.
    const { equalCount, firstEqualMs } = outcomeOf([clock(4_000, -1_000), ...killed(4_500, 4_600)]);
    expect(firstEqualMs).toBe(4_601);
    expect(equalCount).toBe(5 * 399);
  });
});
