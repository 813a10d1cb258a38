import type { Holder } from "../../lease/records/worker-record.ts";
import type { ListedWorker, WorkerList } from "../../lease/worker-list.ts";
import type { Paint } from "../paint.ts";
import { printable, secondsOf, timeOf } from "../printable.ts";
import { type Cell, tableOf } from "../table.ts";

/** A worker ID to show: from a store, or from a server, which does not report all parts. */
export interface ShownWorker
  extends Pick<ListedWorker, "datacenterId" | "workerId" | "state" | "windowLeftMs" | "freeFromMs"> {
  readonly record:
    | { readonly holder: Omit<Holder, "bootId">; readonly generation: number; readonly markMs: number }
    | undefined;
}

/** All worker IDs, and the place that they were read from. */
export interface ShownWorkers extends Pick<WorkerList, "total" | "free" | "neverHeld" | "quarantine" | "nowMs"> {
  /** A store without credentials and its namespace, or the address of a server. */
  readonly from: Readonly<Record<string, string>>;
  readonly workers: readonly ShownWorker[];
}

/** Writes all parts in one line, for programs. */
export function workersToJson({ from, nowMs, total, free, neverHeld, quarantine, workers }: ShownWorkers): string {
  return JSON.stringify({
    time: timeOf(nowMs),
    ...from,
    workerIds: total,
    free,
    neverHeld,
    wholePast: total - workers.length,
    quarantine: quarantine === undefined ? null : { until: timeOf(quarantine.untilMs), reason: quarantine.reason },
    workers: workers.map(({ datacenterId, workerId, state, record, windowLeftMs, freeFromMs }) => ({
      datacenterId,
      workerId,
      state,
      ...(record === undefined ? {} : recordToJson(record)),
      windowLeftMs,
      freeFrom: freeFromMs === undefined ? undefined : timeOf(freeFromMs),
    })),
  });
}

function recordToJson({ holder, generation, markMs }: NonNullable<ShownWorker["record"]>) {
  const { instance, host, processId, sinceMs, version } = holder;
  return {
    generation,
    mark: timeOf(markMs),
    holder: { instance, host, processId, since: timeOf(sinceMs), version },
  };
}

const states = ["held", "released", "expired", "quarantined", "unreadable"] as const;

/** Writes a table for people. */
export function workersToTable(
  { workers, total, free, neverHeld, quarantine, nowMs }: ShownWorkers,
  paint: Paint,
): string {
  const counts = states
    .map((state) => [state, workers.filter((worker) => worker.state === state).length] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  const used = counts.length === 0 ? "No worker ID was ever held" : counts.join(", ");
  const summary = `${used}; ${free} of ${total} worker IDs are free.\n`;
  // A worker ID without a record has all of its past left.
  const past = `${neverHeld} were never held, and the past of ${total - workers.length} is entirely unused: docs/back-fill.md.\n`;
  const bound =
    quarantine === undefined
      ? ""
      : `Quarantine ${quarantineWords(quarantine)} No process is granted a worker ID before then; holders go on.\n`;
  return `${
    workers.length === 0
      ? ""
      : `${tableOf(
          head,
          workers.map((worker) => rowOf(worker, nowMs)),
          paint,
        )}\n`
  }${summary}${past}${bound}`;
}

const head = ["datacenter", "worker", "state", "left", "mark", "holder", "host", "process", "since", "version"];
const nothing = "-";

function rowOf(worker: ShownWorker, nowMs: number): readonly Cell[] {
  const { datacenterId, workerId, state, record, windowLeftMs, freeFromMs } = worker;
  const first = [String(datacenterId), String(workerId), stateCell(state), leftOf(windowLeftMs, freeFromMs, nowMs)];
  if (record === undefined) return [...first, ...Array.from({ length: head.length - first.length }, () => nothing)];
  const { holder, markMs } = record;
  const { instance, host, processId, sinceMs, version } = holder;
  const shown = [instance, host, String(processId), timeOf(sinceMs), version || nothing].map(printable);
  return [...first, timeOf(markMs), ...shown];
}

/** A worker ID that no process can take, or whose holder died, needs attention. */
function stateCell(state: ShownWorker["state"]): Cell {
  if (state === "held") return { text: state, tone: "good" };
  if (state === "released") return state;
  return { text: state, tone: state === "unreadable" ? "bad" : "attention" };
}

/** The rest of the holder's window; for a quarantined worker ID, the rest of the quarantine. */
function leftOf(windowLeftMs: number | undefined, freeFromMs: number | undefined, nowMs: number): string {
  if (windowLeftMs !== undefined) return secondsOf(windowLeftMs);
  return freeFromMs === undefined ? nothing : `free in ${secondsOf(freeFromMs - nowMs)}`;
}

/** Says until when a quarantine lasts, and why. Some reasons end with a full stop, and some do not. */
export function quarantineWords({ untilMs, reason }: NonNullable<ShownWorkers["quarantine"]>): string {
  return `until ${timeOf(untilMs)}: ${reason.replace(/\.$/, "")}.`;
}
