import { expect, test } from "vitest";
import { parseId } from "../../src/snowflake/parse.ts";
import { composeId, msToTicksDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { analyse, binCount, binOf, isWithin, lanesOf, partsOf, zoomCount } from "../../web/src/lab/list-analysis.ts";
import { chooseRows } from "../../web/src/lab/list-order.ts";
import { rowsOf } from "../../web/src/lab/list-rows.ts";
import { type Entry, firstList } from "../../web/src/state.ts";

/** What a list of IDs says as a whole, and the order in which its rows are shown. */

const startMs = Date.UTC(2026, 10, 20, 14, 3);

function entryOf(workerId: number, atMs: number, sequence = 0): Entry {
  const ticks = msToTicksDown(layouts.twitter, startMs + atMs);
  const id = composeId(layouts.twitter, { ticks, datacenterId: 1, workerId, sequence });
  const parsed = parseId(layouts.twitter, id);
  return { start: 0, end: 0, find: undefined, reading: { kind: "read", line: String(id), source: { parsed } } };
}

const linesOf = (...pieces: readonly (readonly Entry[])[]) => ({ pieces, count: 1, readCount: 1 });
const analysisOf = (entries: readonly Entry[], slackMs = 1_000) => analyse(rowsOf(linesOf(entries), slackMs).flat());

test("a copy counts once for each row after the first, also over the pieces of a list", () => {
  const [one, two] = [entryOf(1, 0), entryOf(1, 5)];
  const rows = rowsOf(linesOf([one, two], [entryOf(1, 0), entryOf(1, 0)]), 1_000).flat();
  expect(rows.map(({ isCopy }) => isCopy)).toEqual([false, false, true, true]);
  expect(analyse(rows)).toMatchObject({ idCount: 4, differentCount: 2, copyCount: 2, breakCount: 0 });
});

test("a row is out of order when it is earlier than the latest before it by more than the slack", () => {
  const entries = [entryOf(1, 0), entryOf(1, 10_000), entryOf(2, 9_000), entryOf(2, 8_999), entryOf(1, 10_001)];
  expect(analysisOf(entries)).toMatchObject({ breakCount: 1, breakMaxMs: 1_001 });
  expect(analysisOf(entries, 0)).toMatchObject({ breakCount: 2, breakMaxMs: 1_001 });
  expect(analysisOf(entries, 10_000)).toMatchObject({ breakCount: 0, breakMaxMs: 0 });
});

test("the peak is the fullest second, and the gap the longest time without an ID", () => {
  const times = [0, 3_000, 3_400, 3_999, 4_000, 20_000];
  const entries = times.map((atMs, index) => entryOf(index % 3, atMs));
  expect(analysisOf(entries)).toMatchObject({
    span: { firstMs: startMs, lastMs: startMs + 20_000 },
    peak: { count: 3, atMs: startMs + 3_000 },
    gap: { fromMs: startMs + 4_000, lengthMs: 16_000 },
  });
});

test("each worker has a lane, the busiest first, whose parts hold all of its IDs", () => {
  const entries = [entryOf(4, 0), entryOf(7, 10), entryOf(7, 500), entryOf(7, 999)];
  const { lanes } = analysisOf(entries);
  expect(lanes.map(({ workerId, count }) => [workerId, count])).toEqual([
    [7, 3],
    [4, 1],
  ]);
  for (const { bins, count } of lanes) {
    expect(bins).toHaveLength(binCount);
    expect(bins.reduce((sum, bin) => sum + bin, 0)).toBe(count);
  }
});

test("the parts of a span hold each millisecond once, and the same bins of the timeline", () => {
  for (const lengthMs of [20, 21, 99, 1_000, 86_399_999]) {
    const span = { firstMs: startMs, lastMs: startMs + lengthMs };
    const parts = partsOf(span);
    expect(parts).toHaveLength(zoomCount);
    expect([parts[0]!.firstMs, parts.at(-1)!.lastMs]).toEqual([span.firstMs, span.lastMs]);
    for (const [index, { firstMs, lastMs }] of parts.entries()) {
      if (index > 0) expect(firstMs).toBe(parts[index - 1]!.lastMs + 1);
      const binsOfPart = binCount / zoomCount;
      expect([firstMs, lastMs].map((timeMs) => Math.floor(binOf(timeMs, span) / binsOfPart))).toEqual([index, index]);
    }
  }
  expect(partsOf({ firstMs: startMs, lastMs: startMs + 19 })).toEqual([]);
});

test("lanes and rows of a part of the time are those of the IDs within it, its edges inclusive", () => {
  const part = { firstMs: startMs + 10, lastMs: startMs + 500 };
  const pieces = rowsOf(linesOf([entryOf(4, 9), entryOf(7, 10), entryOf(7, 500), entryOf(7, 501)]), 1_000);
  const rows = pieces.flat();
  expect(rows.map((row) => isWithin(row, part))).toEqual([false, true, true, false]);
  const [lane, ...others] = lanesOf(rows, part);
  expect([lane?.workerId, lane?.bins[0], lane?.bins.at(-1), others]).toEqual([7, 1, 1, []]);
  const shown = chooseRows(pieces, { ...firstList, span: part }, ["worker"]).flat();
  expect(shown.map(({ index }) => index)).toEqual([1, 2]);
});

test("an ID without a time, or none at all, leaves nothing to divide", () => {
  const uuid: Entry = { ...entryOf(1, 0), reading: { kind: "read", line: "u", source: {} } };
  expect(analysisOf([uuid])).toMatchObject({ idCount: 1, span: undefined, peak: undefined, lanes: [] });
  expect(analysisOf([])).toMatchObject({ idCount: 0, gap: { lengthMs: 0 } });
});

test("rows are taken once: further pieces add to those that are there", () => {
  const first = [entryOf(1, 0)];
  const [one] = rowsOf(linesOf(first), 1_000);
  const both = rowsOf(linesOf(first, [entryOf(1, 0)]), 1_000);
  expect(both[0]).toBe(one);
  expect(both).toHaveLength(2);
});

test("an order keeps the order of the text among equals, and rows without a value come last", () => {
  const refused: Entry = { ...entryOf(1, 0), reading: { kind: "refused", line: "x", error: new Error("x") as never } };
  const pieces = rowsOf(linesOf([entryOf(9, 5), refused, entryOf(2, 9), entryOf(2, 1)]), 1_000);
  const indexes = (parts: Partial<typeof firstList>) =>
    chooseRows(pieces, { ...firstList, ...parts }, ["worker"])
      .flat()
      .map(({ index }) => index);
  expect(indexes({})).toEqual([0, 1, 2, 3]);
  expect(indexes({ column: "worker" })).toEqual([2, 3, 0, 1]);
  expect(indexes({ column: "time" })).toEqual([3, 0, 2, 1]);
  expect(indexes({ filter: "Worker 2" })).toEqual([2, 3]);
  expect(indexes({ filter: "worker 1/9" })).toEqual([0]);
  expect(indexes({ filter: "worker 3/9" })).toEqual([]);
  expect(indexes({ filter: "14:03:00.009" })).toEqual([2]);
});

test("the work of a list of 10,000 rows is one pass over them: each row is read a bounded number of times", () => {
  let reads = 0;
  const entries = Array.from({ length: 10_000 }, (_, index) => {
    const entry = entryOf(index % 8, index);
    return Object.defineProperty({ ...entry }, "reading", { get: () => (reads++, entry.reading) });
  });
  analysisOf(entries);
  expect(reads).toBeLessThanOrEqual(8 * entries.length);
});
