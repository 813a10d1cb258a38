import { calmScenario } from "../../../test/simulation/shown/calm.ts";
import { type EqualIds, findEqualIds, longestSilence } from "../../../test/simulation/shown/equal-ids.ts";
import type { ShownRun } from "../../../test/simulation/shown/run-link.ts";
import { simulationStartMs } from "../../../test/simulation/simulated-machine.ts";
import { simulateScenario } from "../../../test/simulation/simulation.ts";
import type { TraceEvent } from "../../../test/simulation/trace-event.ts";
import type { EqualRuns, IssuedRun, Mark, MetFault, RunOutcome } from "../outcome.ts";
import { lanesOf, slotOf } from "./lanes.ts";
import { runSimpleGenerators } from "./simple-generator.ts";
import { tellStory, whatOf } from "./story.ts";

/** The picture is at least so long, so that most runs are drawn alike. */
const endLeastMs = 12_000;

/** Runs the simulation once, and gathers what the view shows of it. */
export async function runShown({ seed, store, faults }: ShownRun): Promise<RunOutcome> {
  const events: TraceEvent[] = [];
  const scenario = calmScenario(seed, store, faults);
  const { traceHash, violations } = await simulateScenario(seed, scenario, { sink: (event) => events.push(event) });
  const equal = findEqualIds(events);
  const healedMs = events.find(({ kind }) => kind === "healed")?.atMs ?? endLeastMs;
  const lastMs = events.findLast(({ kind }) => kind !== "violation")?.atMs ?? 0;
  const endMs = Math.max(endLeastMs, Math.ceil(lastMs / 1_000) * 1_000);
  const lanes = lanesOf(events, endMs);
  return {
    hash: traceHash,
    violations: violations.map(({ promise }) => promise),
    endMs,
    issued: events.reduce((sum, event) => sum + (event.kind === "issued" ? event.count : 0), 0),
    equalCount: equal.reduce((sum, { count }) => sum + count, 0),
    equal: firstOf(equal),
    // Nobody is to be served any more once all faults are over.
    silence: longestSilence(events, healedMs),
    lanes,
    runs: runsOf(events, equal),
    marks: marksOf(events),
    faults: faultsOf(events),
    story: tellStory(events, equal),
    simple: runSimpleGenerators(events, lanes),
  };
}

function placed({ atMs, process }: EqualIds["one"]): EqualRuns["one"] {
  return { atMs, slot: slotOf(process) };
}

function firstOf([first]: readonly EqualIds[]): EqualRuns | undefined {
  if (first === undefined) return undefined;
  const { one, other, firstId, count } = first;
  return { one: placed(one), other: placed(other), firstId, count };
}

function runsOf(events: readonly TraceEvent[], equal: readonly EqualIds[]): readonly IssuedRun[] {
  const twice = new Set(equal.flatMap(({ one, other }) => [one, other]));
  return events.flatMap((event) => {
    if (event.kind !== "issued") return [];
    const { atMs, process, workerIndex: worker, count } = event;
    return [{ atMs, slot: slotOf(process), worker, count, isEqual: twice.has(event) }];
  });
}

function marksOf(events: readonly TraceEvent[]): readonly Mark[] {
  return events.flatMap((event) => {
    if (event.kind !== "applied" || event.markMs === undefined) return [];
    const worker = Number(event.key.slice("worker-".length));
    return [{ atMs: event.atMs, worker, untilMs: event.markMs - simulationStartMs }];
  });
}

function faultsOf(events: readonly TraceEvent[]): readonly MetFault[] {
  return events.flatMap((event) => {
    const what = event.kind === "fault" ? whatOf(event.fault) : undefined;
    return event.kind === "fault" && what !== undefined ? [{ atMs: event.atMs, what, slot: event.slot }] : [];
  });
}
