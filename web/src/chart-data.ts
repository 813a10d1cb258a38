import type { SecondSample } from "../../src/service/message/status-message.ts";

/** The charts of Watch, in their order. */
export const chartNames = ["ids", "calls", "latency", "errors", "lead", "window"] as const;

/** One of {@link chartNames}. */
export type ChartName = (typeof chartNames)[number];

/** The lines of each chart at one second; the last line is the one that is also told in words. */
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
