/** What a server did in one second. */
export interface StatusSample {
  readonly index: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly ids: number;
  readonly values: number;
  readonly calls: number;
  readonly errors: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly leadMs: number | undefined;
  readonly windowLeftMs: number | undefined;
}

/** The charts of Watch, in their order. */
export const chartNames = ["ids", "calls", "latency", "errors", "lead", "window"] as const;

/** One of {@link chartNames}. */
export type ChartName = (typeof chartNames)[number];

/** The lines of each chart at one second; the last line is the one that is also told in words. */
export const chartValues: Readonly<
  Record<ChartName, (sample: StatusSample | undefined) => readonly (number | undefined)[]>
> = {
  ids: (sample) => [sample && sample.ids + sample.values],
  calls: (sample) => [sample?.calls],
  latency: (sample) => [sample?.p50Ms, sample?.p99Ms],
  errors: (sample) => [sample?.errors],
  lead: (sample) => [sample?.leadMs],
  window: (sample) => [sample?.windowLeftMs === undefined ? undefined : sample.windowLeftMs / 1_000],
};
