import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLayout, decomposeId, type Layout, msToTicksDown } from "./layout.ts";
import { inWholeTicks, PastNumbers, PastSlots, slotsOfTick } from "./past-numbers.ts";
import { layouts } from "./presets.ts";

const small = createLayout({
  name: "custom",
  epochMs: 0,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 4 },
    { kind: "sequence", bits: 2 },
  ],
});

/** The IDs of rows, by the formula of a database: the highest of all `tick x C - n` so far, plus n. */
function closedForm(ticks: readonly number[], firstTick: number, capacity: number): readonly bigint[] {
  let highest = -(2n ** 63n);
  return ticks.map((tick, n) => {
    const start = BigInt(tick - firstTick) * BigInt(capacity) - BigInt(n);
    if (start > highest) highest = start;
    return highest + BigInt(n);
  });
}

function lanesOf(count: number) {
  return Array.from({ length: count }, (_, workerId) => ({ datacenterId: 0, workerId }));
}

test("the rule, its closed form, and the IDs agree on any sorted or unsorted rows and any lanes", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 1_000 }),
      fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 300 }),
      fc.boolean(),
      (laneCount, firstTick, offsets, isSorted) => {
        const rows = (isSorted ? offsets.toSorted((one, other) => one - other) : offsets).map(
          (each) => firstTick + each,
        );
        const capacity = slotsOfTick(small, laneCount);
        const lanes = lanesOf(laneCount);
        const numbers = new PastNumbers(small, { firstTick, endTick: firstTick + 1_000, lanes });
        const slots = closedForm(rows, firstTick, capacity);
        let before = -1n;
        for (const [index, tick] of rows.entries()) {
          const id = numbers.next(tick)!;
          const { ticks, workerId, sequence } = decomposeId(small, id);
          expect(BigInt((ticks - firstTick) * capacity + workerId * 4 + sequence)).toBe(slots[index]);
          expect(ticks).toBeGreaterThanOrEqual(tick);
          if (laneCount === 1) expect(id).toBeGreaterThan(before);
          before = id;
        }
      },
    ),
    { numRuns: 500 },
  );
});

describe("rows of one tick", () => {
  test.each([
    [4_095, 0],
    [4_096, 0],
    [4_097, 1],
    [8_193, 2],
    [10_000_000, 2_441],
  ])("%d of them end %d ticks later", (count, lag) => {
    const slots = new PastSlots(4_096);
    for (let row = 0; row < count; row += 1) slots.take(7);
    expect(slots.tick).toBe(7 + lag);
    expect(slots.lagMax).toBe(lag);
  });

  test("fill the lanes in turn: the sequence of the first, then of the second", () => {
    const lanes = [
      { datacenterId: 0, workerId: 3 },
      { datacenterId: 0, workerId: 9 },
    ];
    const numbers = new PastNumbers(small, { firstTick: 5, endTick: 7, lanes });
    const parts = Array.from({ length: 9 }, () => decomposeId(small, numbers.next(5)!));
    expect(parts.map(({ workerId, sequence }) => `${workerId}:${sequence}`).join(" ")).toBe(
      "3:0 3:1 3:2 3:3 9:0 9:1 9:2 9:3 3:0",
    );
    expect(parts.at(-1)!.ticks).toBe(6);
  });

  test("that the claim has no room for get no ID, and neither do those after them", () => {
    const numbers = new PastNumbers(small, { firstTick: 5, endTick: 6, lanes: lanesOf(1) });
    expect([5, 5, 5, 5].map((tick) => numbers.next(tick))).not.toContain(undefined);
    expect([5, 5, 6].map((tick) => numbers.next(tick))).toEqual([undefined, undefined, undefined]);
  });
});

test("a row below the claim counts as one of its first tick", () => {
  const numbers = new PastNumbers(small, { firstTick: 5, endTick: 6, lanes: lanesOf(1) });
  expect(decomposeId(small, numbers.next(4)!).ticks).toBe(5);
});

test("in every preset layout that can be issued an ID has the tick of its row", () => {
  for (const layout of Object.values<Layout>(layouts)) {
    if (layout.sequence.bits > 0 && layout.sequence.shift > layout.timestamp.shift) continue;
    const tick = msToTicksDown(layout, layout.epochMs + 86_400_000);
    const lanes = [{ datacenterId: 0, workerId: layout.worker.max }];
    const id = new PastNumbers(layout, { firstTick: tick, endTick: tick + 1, lanes }).next(tick)!;
    expect(decomposeId(layout, id)).toEqual({ ticks: tick, datacenterId: 0, workerId: layout.worker.max, sequence: 0 });
  }
});

test("a layout whose sequence is above its timestamp is refused", () => {
  const layout = createLayout({
    ...small,
    fields: [
      { kind: "sequence", bits: 2 },
      { kind: "timestamp", bits: 41 },
    ],
  });
  const claim = { firstTick: 0, endTick: 1, lanes: lanesOf(1) };
  expect(() => new PastNumbers(layout, claim)).toThrow(expect.objectContaining({ reason: "INVALID_LAYOUT" }));
});

test("an interval takes in the whole of each tick that it touches (10 ms of sonyflake)", () => {
  const { sonyflake } = layouts;
  const startMs = sonyflake.epochMs + 1_000;
  expect(inWholeTicks(sonyflake, startMs + 5, startMs + 11)).toEqual({ fromMs: startMs, untilMs: startMs + 20 });
  expect(inWholeTicks(sonyflake, startMs, startMs + 10)).toEqual({ fromMs: startMs, untilMs: startMs + 10 });
});
