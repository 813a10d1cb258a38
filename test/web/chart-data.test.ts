import { expect, test } from "vitest";
import type { SecondSample } from "../../src/service/message/status-message.ts";
import { chartTop, highestOf, knownValues, meanOfLast } from "../../web/src/chart-data.ts";

/** The scale and the figures of a chart of Watch. */

const quiet: SecondSample = {
  index: 0,
  timeMs: 0,
  ids: 0,
  values: 0,
  calls: 0,
  errors: 0,
  errorCodes: [],
  p50Ms: undefined,
  p99Ms: undefined,
  leadMs: undefined,
  windowLeftMs: undefined,
};
/** One second after the other, with the given number of IDs in each. */
const secondsOf = (ids: readonly number[]): readonly SecondSample[] =>
  ids.map((count, index) => ({ ...quiet, index: index + 1, timeMs: index * 1_000, ids: count }));
const steady = (count: number, ids: number): readonly number[] => Array.from({ length: count }, () => ids);

test.each([
  ["one burst among 300 seconds", [...steady(299, 450), 1_000_000], 585],
  ["six seconds of bursts among 300", [...steady(294, 450), ...steady(6, 9_512)], 585],
  ["a load that doubled for a tenth of the time", [...steady(270, 450), ...steady(30, 900)], 990],
  ["a steady load", steady(300, 450), 495],
  ["few seconds, of which one is higher", [450, 450, 1_000], 1_100],
  ["one error in five minutes", [...steady(299, 0), 5], 5.5],
  ["nothing but quiet seconds", steady(300, 0), 1],
  ["no second at all", [], 1],
])("the scale of %s shows what most seconds are", (_name, ids, top) => {
  expect(chartTop(knownValues("ids", secondsOf(ids)))).toBeCloseTo(top, 6);
});

test("the highest value is shown with its second, the first of equal ones", () => {
  expect(highestOf("ids", secondsOf([3, 9, 1, 9]))).toEqual({ value: 9, timeMs: 1_000 });
  expect(highestOf("latency", secondsOf([3, 9]))).toBeUndefined();
  expect(highestOf("latency", [{ ...quiet, p50Ms: 8, p99Ms: 2 }])).toEqual({ value: 2, timeMs: 0 });
});

test("a figure is the mean of the last ten seconds, as far as they are known", () => {
  expect(meanOfLast("ids", secondsOf([...steady(5, 1_000), ...steady(9, 10), 0]))).toBe(9);
  expect(meanOfLast("ids", secondsOf([4, 8]))).toBe(6);
  const [known] = secondsOf([1]);
  expect(meanOfLast("latency", [quiet, { ...known!, p99Ms: 3 }, quiet])).toBe(3);
  expect(meanOfLast("latency", [quiet])).toBeUndefined();
});
