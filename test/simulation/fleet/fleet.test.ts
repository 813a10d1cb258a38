import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { presetLayout } from "../../../src/snowflake/presets.ts";
import { serverTiming } from "../../../src/store/record-store.ts";
import { markdownTable } from "../../bench/report.ts";
import { Fleet, type FleetParts } from "./fleet.ts";
import { endureOutage, measureMinute, startTogether } from "./fleet-figures.ts";
import { renewalTable } from "./fleet-tables.ts";

const size = 120;
/** A database beside the pods. */
const model = { roundTripMs: 1, atOnce: 4, connectMs: 5, readMs: 0.2, writeMs: 2, listedRecordMs: 0.001 };

function makeFleet(parts: Partial<FleetParts> = {}): Fleet {
  return new Fleet({ model, layout: presetLayout("twitter"), seed: 7, hasClock: true, ...parts });
}

async function startedFleet(parts: Partial<FleetParts> = {}): Promise<Fleet> {
  const fleet = makeFleet(parts);
  await startTogether(fleet, size);
  return fleet;
}

function expectAllServe(fleet: Fleet): void {
  expect(fleet.serving.length).toBe(size);
  expect(new Set(fleet.heldWorkerIds).size).toBe(size);
}

describe("many workers that start at once", () => {
  test("have a worker ID each, and no two the same", async () => {
    const fleet = await startedFleet();
    expectAllServe(fleet);
  });

  test("write little more than their records: few ask for the same worker ID", async () => {
    const fleet = makeFleet();
    await startTogether(fleet, size);
    // The next start finds the records of the deployment, so each conflict is of two that wanted one worker ID.
    await fleet.stop();
    const { calls, refused } = await startTogether(fleet, size);
    expectAllServe(fleet);
    expect(refused).toBe(0);
    expect(calls.writes).toBe(size);
    expect(calls.conflicts).toBeLessThan(size / 2);
    expect(calls.lists).toBeLessThan(2 * size);
  });

  test("fill a layout to its last worker ID, and the next one is refused", async () => {
    const fleet = makeFleet({ layout: presetLayout("javascript") });
    const { granted } = await startTogether(fleet, 64);
    expect(granted).toBe(64);
    expect(new Set(fleet.heldWorkerIds).size).toBe(64);
    fleet.start(1);
    await fleet.run(5_000);
    expect(fleet.members.at(-1)!.refusal).toMatch(/no free worker ID/);
  });

  test("after kill -9 of all take other worker IDs at once, while there are some", async () => {
    const fleet = await startedFleet();
    const before = new Set(fleet.heldWorkerIds);
    fleet.kill();
    const { refused } = await startTogether(fleet, size);
    expectAllServe(fleet);
    expect(refused).toBe(0);
    expect(fleet.heldWorkerIds.filter((id) => before.has(id))).toEqual([]);
  });
});

test("a renewal is one write, and nothing else is asked of the store", async () => {
  const fleet = await startedFleet();
  const { writes, ...others } = await measureMinute(fleet);
  // Each member's period begins when the one before was sent.
  const expected = (size * 60_000) / serverTiming.renewalPeriodMs;
  expect(Math.abs(writes - expected)).toBeLessThanOrEqual(size);
  expect(others).toMatchObject({ connects: 0, reads: 0, lists: 0, conflicts: 0 });
});

describe.each(["refusing", "silent"] as const)("a store that is %s", (state) => {
  test("for 20 s ends no grant", async () => {
    const fleet = await startedFleet();
    const { endedGrants, silentMax } = await endureOutage(fleet, state, 20_000);
    expect([endedGrants, silentMax]).toEqual([0, 0]);
  });

  test("for longer than a window ends all, and each gets a worker ID again", async () => {
    const fleet = await startedFleet();
    const { endedGrants, silentMax, againMs } = await endureOutage(fleet, state, 45_000);
    expect([endedGrants, silentMax]).toEqual([size, size]);
    expect(againMs).toBeDefined();
    expectAllServe(fleet);
  });
});

test("a store that makes fewer writes a second than renewals need serves a part of the workers, and goes on", async () => {
  // 10 writes a second, by a renewal each 5 s, are 50 workers.
  const fleet = makeFleet({ model: { ...model, atOnce: 1, writeMs: 100 } });
  fleet.start(size);
  await fleet.run(240_000);
  const { writes } = await measureMinute(fleet);
  expect(writes).toBeGreaterThan(500);
  expect(fleet.serving.length).toBeGreaterThan(50);
  expect(fleet.serving.length).toBeLessThan(size);
  expect(new Set(fleet.heldWorkerIds).size).toBe(fleet.serving.length);
});

test("docs/scale.md has the renewals of the stores' defaults", () => {
  expect(readFileSync("docs/scale.md", "utf8")).toContain(markdownTable(renewalTable()));
});
