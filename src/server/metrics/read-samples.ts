import { codeNames } from "../../service/message/code-names.ts";
import { exhaustionOf } from "../../snowflake/exhaustion.ts";
import { version } from "../../version.ts";
import type { WorkerStatus } from "../../worker/id-source.ts";
import { countOpenFiles, readOpenFilesMax } from "../listen/open-files.ts";
import type { Sample, Samples } from "./exposition.ts";
import type { MetricSources } from "./metric-sources.ts";

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

/** The metrics of calls. */
function callSamples({ calls, traces }: Pick<MetricSources, "calls" | "traces">) {
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

/** The metrics of the worker ID, of its store and of its layout. */
function workerSamples({ source, workers, clock }: Pick<MetricSources, "source" | "workers" | "clock">) {
  const { state, grant, store, counters, waiting } = source.status();
  const { endMs } = exhaustionOf(source.layout, clock.nowMs());
  return {
    snowlane_ids_issued_total: [one(counters.issued)],
    snowlane_waiting_calls: [one(waiting)],
    snowlane_waited_calls_total: [one(counters.waited)],
    snowlane_serving: [one(state.kind === "serving" ? 1 : 0)],
    snowlane_lead_seconds: [seconds(grant?.leadMs ?? 0)],
    snowlane_window_left_seconds: [seconds(grant?.windowLeftMs ?? 0)],
    snowlane_window_seconds: grant === undefined ? [] : [seconds(grant.windowMs)],
    snowlane_grant_info:
      grant === undefined ? [] : [[[String(grant.datacenterId), String(grant.workerId)], 1] as const],
    snowlane_grant_generation: grant === undefined ? [] : [one(grant.generation)],
    snowlane_worker_events_total: eventSamples(counters),
    snowlane_store_up: [one(store.reachable ? 1 : 0)],
    snowlane_store_answer_age_seconds:
      store.lastAnswerMs === undefined ? [] : [seconds(clock.monotonicMs() - store.lastAnswerMs)],
    snowlane_store_clock_ahead_seconds: store.clockAheadMs === undefined ? [] : [seconds(store.clockAheadMs)],
    snowlane_worker_ids: [...workers.counts()].map(([state, count]): Sample => [[state], count]),
    snowlane_never_held_worker_ids: neverHeldSamples(workers.neverHeld()),
    snowlane_worker_list_age_seconds: workers.ageMs === undefined ? [] : [seconds(workers.ageMs)],
    snowlane_layout_left_seconds: [seconds(Math.max(0, endMs - clock.nowMs()))],
  };
}

function neverHeldSamples(count: number | undefined): readonly Sample[] {
  return count === undefined ? [] : [one(count)];
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
    [["past_claim"], counters.claims],
    [["step_back"], counters.clockStepsBack],
    [["step_forward"], counters.clockStepsForward],
    [["pause"], counters.pauses],
  ];
}

/** The metrics of sequences; none where the server has no database for them. */
function sequenceSamples({ sequences }: Pick<MetricSources, "sequences">) {
  const status = sequences?.status();
  const of = (samples: (found: NonNullable<typeof status>) => readonly Sample[]) =>
    status === undefined ? [] : samples(status);
  return {
    snowlane_values_issued_total: of(({ issued }) => [one(issued)]),
    snowlane_sequences: of(({ names }) => [one(names)]),
    snowlane_sequence_stock_seconds: of(({ stockMs }) => (Number.isFinite(stockMs) ? [seconds(stockMs)] : [])),
    snowlane_sequence_takes_total: of(({ taken, refused, failed }) => [
      [["taken"], taken],
      [["refused"], refused],
      [["failed"], failed],
    ]),
    snowlane_sequence_stopped: of(({ stopped }) => [one(stopped ? 1 : 0)]),
    snowlane_sequence_events_total: of(({ stops, openings }) => [
      [["stopped"], stops],
      [["opened"], openings],
    ]),
  };
}

/** The metrics of connections, certificates and principals. */
function connectionSamples({
  listener,
  connections,
  principals,
}: Pick<MetricSources, "listener" | "connections" | "principals">) {
  const { http1, http2, refusedHandshakes, tlsExpiresMs } = connections();
  const known = principals?.();
  const each = [...(known ?? [])];
  const { full, queue, room } = listener.refused;
  const protocols: readonly Sample[] = [
    [["http1"], http1],
    [["http2"], http2],
    // The listener hears of the end of a connection a little later.
    [["new"], Math.max(0, listener.connectionCount() - http1 - http2)],
  ];
  const refused: readonly Sample[] = [
    [["full"], full],
    [["queue"], queue],
    [["room"], room],
    [["handshake"], refusedHandshakes],
  ];
  return {
    snowlane_connections: protocols,
    snowlane_connections_refused_total: refused,
    snowlane_tls_expiry_seconds: tlsExpiresMs === undefined ? [] : [seconds(tlsExpiresMs)],
    snowlane_principals: known === undefined ? [] : [one(known.size)],
    snowlane_principal_ids_total: each.map(([name, { idsCount }]): Sample => [[name], idsCount]),
    snowlane_principal_refused_total: each.map(([name, { refusedCount }]): Sample => [[name], refusedCount]),
    snowlane_principal_quota_ids_per_second: each.flatMap(([name, { idsPerSecond }]): readonly Sample[] =>
      idsPerSecond === undefined ? [] : [[[name], idsPerSecond]],
    ),
  };
}

/** The metrics of the process. */
function processSamples({ lag, clock, readLostLines }: Pick<MetricSources, "lag" | "clock" | "readLostLines">) {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const [fileCount, filesMax] = [countOpenFiles(), readOpenFilesMax()];
  return {
    snowlane_build_info: [[[version, process.versions.node], 1] as const],
    nodejs_eventloop_lag_p99_seconds: [seconds(lag.readMs())],
    process_cpu_seconds_total: [one((user + system) / 1e6)],
    process_resident_memory_bytes: [one(memory.rss)],
    process_start_time_seconds: [seconds(clock.nowMs() - process.uptime() * 1_000)],
    process_open_fds: fileCount === undefined ? [] : [one(fileCount)],
    process_max_fds: filesMax === undefined ? [] : [one(filesMax)],
    snowlane_log_lines_lost_total: [one(readLostLines())],
    nodejs_heap_size_used_bytes: [one(memory.heapUsed)],
  };
}

/** The sample of a metric without labels. */
function one(value: number): Sample {
  return [[], value];
}

/** The sample of a metric without labels that is a time. */
function seconds(ms: number): Sample {
  return [[], ms / 1_000];
}
