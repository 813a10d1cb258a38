import type { LatencyHistogram } from "./latency-histogram.ts";

/** One line of a metric: its labels, in the order of the table, and its value. */
export type Sample = readonly [labels: readonly string[], value: number | LatencyHistogram];

/** The sample of a metric without labels. */
export function one(value: number): Sample {
  return [[], value];
}

/** The sample of a metric without labels that is a time. */
export function seconds(ms: number): Sample {
  return [[], ms / 1_000];
}
