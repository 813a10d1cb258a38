import { callSamples } from "./call-samples.ts";
import { connectionSamples } from "./connection-samples.ts";
import type { Samples } from "./exposition.ts";
import type { MetricSources } from "./metric-sources.ts";
import { processSamples } from "./process-samples.ts";
import { sequenceSamples } from "./sequence-samples.ts";
import { workerSamples } from "./worker-samples.ts";

/** Reads every metric, from memory alone: it never waits for the store. */
export function readSamples(sources: MetricSources): Samples {
  return {
    ...callSamples(sources),
    ...workerSamples(sources),
    ...sequenceSamples(sources),
    ...connectionSamples(sources),
    ...processSamples(sources),
  };
}
