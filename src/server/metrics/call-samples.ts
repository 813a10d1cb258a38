import type { MetricSources } from "./metric-sources.ts";
import { one, type Sample } from "./sample.ts";

/** The codes of gRPC by their numbers. https://grpc.io/docs/guides/status-codes/ */
export const codeNames: readonly string[] = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/** The metrics of calls. */
export function callSamples({ calls, traces }: Pick<MetricSources, "calls" | "traces">) {
  const methods = calls.methods();
  const sampled = traces?.counts();
  return {
    snowlane_calls_total: methods.flatMap(({ method, ok, failed }): Sample[] => [
      [[method, codeNames[0]!], ok],
      ...[...failed.entries()]
        .filter(([, count]) => count > 0)
        .map(([code, count]): Sample => [[method, codeNames[code]!], count]),
    ]),
    snowlane_call_seconds: methods
      .filter(({ latency }) => latency.counts.some((count) => count > 0))
      .map(({ method, latency }): Sample => [[method], latency]),
    snowlane_refused_total: [...calls.refused].map(([cause, count]): Sample => [[cause], count]),
    snowlane_sampled_calls_total: Object.entries(sampled ?? {}).map(([outcome, count]): Sample => [[outcome], count]),
    snowlane_streams: [one(calls.streamCount)],
  };
}
