import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import type { WorkerStatus } from "../worker/id-source.ts";
import { samplesMax, StatusSamples } from "./status-samples.ts";

const grant = { datacenterId: 1, workerId: 2, generation: 3, sinceMs: 0, untilMs: 0, windowLeftMs: 9_000, leadMs: 1.5 };

/** Samples over a source whose count of IDs and grant a test sets. */
function setUp() {
  const time = new ManualTime(1_800_000_000_000);
  const state = { issued: 7, issuedCount: 3, grant: grant as WorkerStatus["grant"] };
  const source = {
    status: () => ({ grant: state.grant, counters: { issued: state.issued } }) as WorkerStatus,
  };
  return { state, samples: new StatusSamples({ source, sequences: state, clock: time, readCalls: undefined }) };
}

test("a sample has what happened since the one before, and what holds at its end", () => {
  const { state, samples } = setUp();
  expect(samples.after(0)).toEqual([]);
  state.issued += 5;
  state.issuedCount += 2;
  samples.take();
  state.grant = undefined;
  samples.take();
  const noCalls = { callCount: 0, errorCount: 0, errorCodes: [], p50Ms: undefined, p99Ms: undefined };
  const common = { timeMs: 1_800_000_000_000, ...noCalls };
  expect(samples.after(0)).toEqual([
    { ...common, index: 1, idsCount: 5, valuesCount: 2, leadMs: 1.5, windowLeftMs: 9_000 },
    { ...common, index: 2, idsCount: 0, valuesCount: 0, leadMs: undefined, windowLeftMs: undefined },
  ]);
});

test("five minutes are kept, and their indexes have no gap", () => {
  const { state, samples } = setUp();
  for (let second = 1; second <= samplesMax + 12; second++) {
    state.issued += second;
    samples.take();
  }
  const all = samples.after(0);
  expect(all.map(({ index }) => index)).toEqual(Array.from({ length: samplesMax }, (_, at) => at + 13));
  expect(all.every(({ index, idsCount }) => index === idsCount)).toBe(true);
  expect(samples.after(5)).toEqual(all);
});

test("only samples after an index are given; an index of another server gives all", () => {
  const { samples } = setUp();
  for (let second = 0; second < 3; second++) samples.take();
  const indexes = (after: number) => samples.after(after).map(({ index }) => index);
  expect([0, 1, 2, 3].map(indexes)).toEqual([[1, 2, 3], [2, 3], [3], []]);
  expect([4, 5_000, 2 ** 53, 2 ** 64].map(indexes)).toEqual(Array.from({ length: 4 }, () => [1, 2, 3]));
});

test("PAGE 18: calls of a second are counted, their errors by code, and their times are the bounds of buckets", () => {
  let totals = {
    callCount: 5,
    errorCounts: Float64Array.of(0, 1),
    tookCounts: Float64Array.of(5, 0, 0),
    boundsMs: [1, 10],
  };
  const source = { status: () => ({ grant: undefined, counters: { issued: 0 } }) as WorkerStatus };
  const samples = new StatusSamples({ source, sequences: undefined, clock: new ManualTime(), readCalls: () => totals });
  const latest = () => samples.after(0).at(-1);
  samples.take();
  expect(latest()).toMatchObject({ callCount: 0, errorCount: 0, p50Ms: undefined, p99Ms: undefined });
  totals = {
    ...totals,
    callCount: 105,
    errorCounts: Float64Array.of(0, 1, 2, 1),
    tookCounts: Float64Array.of(103, 2, 0),
  };
  samples.take();
  const errorCodes = [
    { code: 2, count: 2 },
    { code: 3, count: 1 },
  ];
  expect(latest()).toMatchObject({ callCount: 100, errorCount: 3, errorCodes, p50Ms: 1, p99Ms: 10 });
  totals = { ...totals, callCount: 115, tookCounts: Float64Array.of(103, 2, 10) };
  samples.take();
  expect(latest()).toMatchObject({ callCount: 10, errorCount: 0, errorCodes: [], p50Ms: 10, p99Ms: 10 });
});
