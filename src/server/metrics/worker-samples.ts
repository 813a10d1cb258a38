import { exhaustionOf } from "../../snowflake/exhaustion.ts";
import type { WorkerStatus } from "../../worker/id-source.ts";
import type { MetricSources } from "./metric-sources.ts";
import { one, type Sample, seconds } from "./sample.ts";

/** The metrics of the worker ID, of its store and of its layout. */
export function workerSamples({ source, workers, clock }: Pick<MetricSources, "source" | "workers" | "clock">) {
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
    snowlane_worker_list_age_seconds: workers.ageMs === undefined ? [] : [seconds(workers.ageMs)],
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
