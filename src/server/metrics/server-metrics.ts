import { readdirSync } from "node:fs";
import type { Clock } from "../../clock/clock.ts";
import { exhaustionOf } from "../../snowflake/exhaustion.ts";
import { version } from "../../version.ts";
import type { IdSource, WorkerStatus } from "../../worker/id-source.ts";
import { type CallMetrics } from "./call-metrics.ts";
import type { Sample, Samples } from "./exposition.ts";

/** The parts of a server of which metrics tell. */
export interface MetricSources {
  readonly calls: CallMetrics;
  readonly source: IdSource;
  readonly clock: Clock;
}

/** The codes of gRPC by their numbers. https://grpc.io/docs/guides/status-codes/ */
const codeNames: readonly string[] = [
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

/** Reads every metric, from memory alone: it never waits for the store. */
export function readSamples({ calls, source, clock }: MetricSources): Samples {
  return { ...callSamples(calls), ...workerSamples(source, clock), ...processSamples(clock) };
}

function callSamples(calls: CallMetrics) {
  const methods = calls.methods();
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
    snowlane_streams: [one(calls.streamCount)],
  };
}

function workerSamples(source: IdSource, clock: Clock) {
  const { state, grant, store, counters, waiting } = source.status();
  const { endMs } = exhaustionOf(source.layout, clock.nowMs());
  return {
    snowlane_ids_issued_total: [one(counters.issued)],
    snowlane_waiting_calls: [one(waiting)],
    snowlane_waited_calls_total: [one(counters.waited)],
    snowlane_serving: [one(state.kind === "serving" ? 1 : 0)],
    snowlane_lead_seconds: [seconds(grant?.leadMs ?? 0)],
    snowlane_window_left_seconds: [seconds(grant?.windowLeftMs ?? 0)],
    snowlane_grant_info:
      grant === undefined ? [] : [[[String(grant.datacenterId), String(grant.workerId)], 1] as const],
    snowlane_grant_generation: grant === undefined ? [] : [one(grant.generation)],
    snowlane_worker_events_total: eventSamples(counters),
    snowlane_store_up: [one(store.reachable ? 1 : 0)],
    snowlane_store_answer_age_seconds:
      store.lastAnswerMs === undefined ? [] : [seconds(clock.monotonicMs() - store.lastAnswerMs)],
    snowlane_store_clock_ahead_seconds: store.clockAheadMs === undefined ? [] : [seconds(store.clockAheadMs)],
    snowlane_layout_left_seconds: [seconds(Math.max(0, endMs - clock.nowMs()))],
  };
}

function eventSamples(counters: WorkerStatus["counters"]): readonly Sample[] {
  return [
    [["acquired"], counters.acquired],
    [["renewed"], counters.renewed],
    [["ambiguous"], counters.ambiguous],
    [["lost"], counters.lost],
    [["lapsed"], counters.lapsed],
    [["rebased"], counters.rebased],
    [["quarantine"], counters.quarantines],
    [["step_back"], counters.clockStepsBack],
    [["step_forward"], counters.clockStepsForward],
    [["pause"], counters.pauses],
  ];
}

function processSamples(clock: Clock) {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const fileCount = countOpenFiles();
  return {
    snowlane_build_info: [[[version, process.versions.node], 1] as const],
    process_cpu_seconds_total: [one((user + system) / 1e6)],
    process_resident_memory_bytes: [one(memory.rss)],
    process_start_time_seconds: [seconds(clock.nowMs() - process.uptime() * 1_000)],
    process_open_fds: fileCount === undefined ? [] : [one(fileCount)],
    nodejs_heap_size_used_bytes: [one(memory.heapUsed)],
  };
}

/** Undefined where the system has no /proc. */
function countOpenFiles(): number | undefined {
  try {
    // One of them is the folder that is read.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return undefined;
  }
}

function one(value: number): Sample {
  return [[], value];
}

function seconds(ms: number): Sample {
  return [[], ms / 1_000];
}
