import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import type { Fault } from "./fault.ts";
import type { Violation } from "./issue-history.ts";

/** A thing that happened in a run, for those who show it. */
export type TraceEvent = {
  /** True time: milliseconds since the run began. */
  readonly atMs: number;
} & (
  | { readonly kind: "start"; readonly slot: number; readonly process: string }
  | { readonly kind: "crash"; readonly process: string }
  /** All IDs of a run lie in one tick. */
  | {
      readonly kind: "issued";
      readonly process: string;
      readonly workerIndex: number;
      readonly firstId: bigint;
      readonly count: number;
      readonly stride: bigint;
      /** Unix milliseconds. */
      readonly timestampMs: number;
    }
  /** The store took a record. `markMs`: of a worker record, in Unix milliseconds. */
  | { readonly kind: "applied"; readonly key: string; readonly markMs: number | undefined }
  /** A fault took records away, or put older ones in their place. */
  | { readonly kind: "lost"; readonly keys: readonly string[] }
  | { readonly kind: "worker"; readonly process: string; readonly event: WorkerEvent }
  /** `phase`: of the holder that the fault met; `dead` where there was none. */
  | { readonly kind: "fault"; readonly fault: Fault["kind"]; readonly slot: number; readonly phase: string }
  /** What the last fault that lasts had begun is over. */
  | { readonly kind: "fault-ended" }
  /** The wall clock of a machine changed against true time. */
  | { readonly kind: "clock"; readonly slot: number; readonly aheadMs: number }
  | { readonly kind: "healed" }
  /** Found when the run is over. */
  | ({ readonly kind: "violation" } & Violation)
);

/** Takes the events of a run, in the order in which they happened. It may not change the run. */
export type TraceSink = (event: TraceEvent) => void;

/** Writes an event as a line for a terminal. */
export function traceLine(event: TraceEvent): string {
  return `${(event.atMs / 1_000).toFixed(3).padStart(9)} s  ${describe(event)}`;
}

function describe(event: TraceEvent): string {
  switch (event.kind) {
    case "start":
      return `${event.process} starts`;
    case "crash":
      return `${event.process} is killed`;
    case "issued": {
      const last = event.firstId + BigInt(event.count - 1) * event.stride;
      const ids = event.count === 1 ? `${event.firstId}` : `${event.count} IDs, ${event.firstId} to ${last}`;
      return `${event.process} issues ${ids} under worker ${event.workerIndex}`;
    }
    case "applied":
      return `the store takes ${event.key}${event.markMs === undefined ? "" : `, mark ${timeOf(event.markMs)}`}`;
    case "lost":
      return `the store has lost ${event.keys.join(", ")}`;
    case "worker":
      return `${event.process}: ${describeWorker(event.event)}`;
    case "fault":
      return `FAULT ${event.fault} meets process ${event.slot}, ${event.phase}`;
    case "fault-ended":
      return "the fault is over";
    case "clock":
      return `the clock of process ${event.slot} is ${offsetOf(event.aheadMs)}`;
    case "healed":
      return "all faults are healed";
    case "violation":
      return `BROKEN ${event.promise}: ${event.detail}`;
  }
}

function describeWorker(event: WorkerEvent): string {
  const parts = Object.entries(event).flatMap(([name, value]) => {
    if (name === "kind" || value === undefined || value === "") return [];
    if (name.endsWith("Ms") && Number(value) > 1e12) return [`${name.slice(0, -2)} ${timeOf(Number(value))}`];
    return [`${name} ${value instanceof Error ? value.message : String(value)}`];
  });
  return [event.kind, ...parts].join(", ");
}

function offsetOf(aheadMs: number): string {
  return `${Math.abs(aheadMs).toFixed(0)} ms ${aheadMs < 0 ? "behind" : "ahead"}`;
}

/** The time of day, which is enough: a run takes seconds. */
function timeOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(11, -1);
}
