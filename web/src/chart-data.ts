import type { SecondSample } from "../../src/service/message/status-message.ts";

/** The charts of Watch, in their order. */
export const chartNames = ["ids", "calls", "latency", "errors", "lead", "window"] as const;

/** One of {@link chartNames}. */
export type ChartName = (typeof chartNames)[number];

/** The lines of each chart at one second; the last line is the one that is also shown in words. */
export const chartValues: Readonly<
  Record<ChartName, (sample: SecondSample | undefined) => readonly (number | undefined)[]>
> = {
  ids: (sample) => [sample && sample.ids + sample.values],
  calls: (sample) => [sample?.calls],
  latency: (sample) => [sample?.p50Ms, sample?.p99Ms],
  errors: (sample) => [sample?.errors],
  lead: (sample) => [sample?.leadMs],
  window: (sample) => [sample?.windowLeftMs === undefined ? undefined : sample.windowLeftMs / 1_000],
};

/** The names of the lines, where a chart has more than one. */
export const chartLines: Readonly<Partial<Record<ChartName, readonly string[]>>> = { latency: ["p50", "p99"] };

/** The share of the seconds that a scale has to hold. */
const heldShare = 0.98;
/** Room above the highest value that a scale holds. */
const roomOverAll = 1.1;
const roomOverHeld = 1.3;

/**
 * The top of a chart's scale: one burst does not flatten all else. What lies above it is marked at the edge, and said.
 */
export function chartTop(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const highest = sorted.at(-1) ?? 0;
  const held = sorted[Math.ceil(sorted.length * heldShare) - 1] ?? 0;
  // Where nearly all seconds are quiet, what is not is all that there is to see.
  const top = held > 0 ? Math.min(highest * roomOverAll, held * roomOverHeld) : highest * roomOverAll;
  return top > 0 ? top : 1;
}

/** All values of a chart that are known. */
export function knownValues(name: ChartName, samples: readonly SecondSample[]): readonly number[] {
  return samples.flatMap((sample) => chartValues[name](sample)).filter((value) => value !== undefined);
}

/** A value that is shown in words, and its second. */
export interface ToldValue {
  readonly value: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
}

/** The highest of the values that are shown in words, the first of equal ones; undefined where there is none. */
export function highestOf(name: ChartName, samples: readonly SecondSample[]): ToldValue | undefined {
  let found: ToldValue | undefined;
  for (const sample of samples) {
    const value = chartValues[name](sample).at(-1);
    if (value !== undefined && (found === undefined || value > found.value)) found = { value, timeMs: sample.timeMs };
  }
  return found;
}

/** The seconds of which a figure is the mean: the last one alone is 0 in every quiet second. */
const meanSeconds = 10;

/** The mean of the last ten seconds, as far as they are known. */
export function meanOfLast(name: ChartName, samples: readonly SecondSample[]): number | undefined {
  const values = samples.slice(-meanSeconds).flatMap((sample) => chartValues[name](sample).at(-1) ?? []);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
