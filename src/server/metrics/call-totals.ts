import type { CallMetrics } from "./call-metrics.ts";
import { latencyBoundsMs } from "./latency-histogram.ts";

/** Adds up the counts of all methods. Streams are not timed here: they last for as long as their readers like. */
export function readCallTotals(calls: CallMetrics) {
  const tookCounts = new Float64Array(latencyBoundsMs.length + 1);
  let [callCount, errorCount] = [0, 0];
  for (const { ok, failedCount, latency, streams } of calls.methods()) {
    callCount += ok + failedCount;
    errorCount += failedCount;
    if (!streams) for (const [bucket, count] of latency.counts.entries()) tookCounts[bucket]! += count;
  }
  return { callCount, errorCount, tookCounts, boundsMs: latencyBoundsMs };
}
