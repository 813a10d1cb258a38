import { expect, test } from "vitest";
import { simulate } from "./simulation.ts";
import { type TraceEvent, traceLine } from "./trace-event.ts";

async function traceOf(seed: number): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = [];
  await simulate(seed, { sink: (event) => events.push(event) });
  return events;
}

test("a history is the same with a sink and without, and the sink sees all of it in order", async () => {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) {
    const events: TraceEvent[] = [];
    const watched = await simulate(seed, { sink: (event) => events.push(event) });
    expect(watched.traceHash).toBe((await simulate(seed)).traceHash);
    const times = events.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    const issued = events.reduce((sum, event) => sum + (event.kind === "issued" ? event.count : 0), 0);
    expect(issued).toBeGreaterThan(0);
    expect(issued).toBeLessThanOrEqual(watched.issued);
    for (const { kind } of events) kinds.add(kind);
  }
  const expected = ["applied", "clock", "crash", "fault", "fault-ended", "healed", "issued", "lost", "start", "worker"];
  expect([...kinds].toSorted()).toEqual(expected);
});

test("a wiped store has lost its records, and the line of each event says what happened", async () => {
  const lines = (await traceOf(22)).map(traceLine);
  const wipe = lines.findIndex((line) => line.includes("FAULT store-wipe"));
  expect(lines[wipe + 1]).toMatch(/^ +\d+\.\d{3} s {2}the store has lost .*\blayout\b/);
  for (const line of lines) expect(line).not.toMatch(/undefined|NaN|\[object/);
});
