import { addErrorCodes } from "../../service/message/error-codes.ts";
import type { SecondSample, ReportedStatus } from "../../service/message/status-message.ts";
import type { Paint } from "../paint.ts";
import { tableOf } from "../table.ts";
import { printable, secondsOf, timeOf } from "../printable.ts";

/** The state of a server to show. */
export interface ShownStatus extends ReportedStatus {
  readonly server: string;
  /** The time by the clock of this machine. */
  readonly nowMs: number;
  readonly samples: readonly SecondSample[];
}

/** Writes all parts in one line, for programs. */
export function statusToJson({ server, nowMs, startMs, grant, samples, ...rest }: ShownStatus): string {
  const written = {
    time: timeOf(nowMs),
    server,
    ...rest,
    start: timeOf(startMs),
    grant: grant === undefined ? null : withSince(grant),
    samples: samples.map(({ timeMs, ...sample }) => ({ time: timeOf(timeMs), ...sample })),
  };
  return `${JSON.stringify(written)}\n`;
}

function withSince({ sinceMs, ...grant }: NonNullable<ShownStatus["grant"]>) {
  return { ...grant, since: timeOf(sinceMs) };
}

const spans = [
  ["last second", 1],
  ["last minute", 60],
  ["5 minutes", 300],
] as const;

/** Writes a table for people. */
export function statusToTable(status: ShownStatus, paint: Paint): string {
  const { server, serving, reason, phase, startMs, grant, store, waiting, connections, neverHeld, samples } = status;
  const state = serving
    ? paint("good", "serving")
    : `${paint("bad", "not serving")}: ${printable(reason)}, ${printable(phase)}; docs/errors.md says what to do`;
  const load = [counted(connections, "connection", "connections"), counted(waiting, "call waiting", "calls waiting")];
  const lines = [
    ["state", state],
    ["server", [server, `started ${timeOf(startMs)}`, ...load].join(", ")],
    ["worker", grant === undefined ? "none" : workerOf(grant)],
    ["window", grant === undefined ? "-" : windowOf(grant)],
    ["lead", grant === undefined ? "-" : `${grant.leadMs.toFixed(1)} ms ahead of the clock`],
    ["store", storeOf(store, paint)],
    ...(neverHeld === undefined ? [] : [["past", `${neverHeld} worker IDs were never held`] as const]),
  ] as const;
  const head = lines.map(([name, text]) => `${name.padEnd(8)}${text}\n`).join("");
  if (samples.length === 0) return `${head}\nNo second has passed since the start.\n`;
  const columns = spans.map(([, seconds]) => samples.slice(-seconds));
  const row = (name: string, value: (span: readonly SecondSample[]) => string) => [name, ...columns.map(value)];
  const table = tableOf(
    ["per second", ...spans.map(([title]) => title)],
    [
      row("IDs", rateOf("ids")),
      ...(samples.some(({ values }) => values > 0) ? [row("values", rateOf("values"))] : []),
      row("calls", rateOf("calls")),
      row("errors", rateOf("errors")),
      row("slowest p99", (span) => greatest(span, "p99Ms")),
      row("longest lead", (span) => greatest(span, "leadMs")),
    ],
  );
  const codes = addErrorCodes(samples).map(({ code, count }) => `${code} ${count}`);
  return `${head}\n${table}${codes.length === 0 ? "" : `\nErrors of these 5 minutes: ${codes.join(", ")}\n`}`;
}

/** Nothing can be left of a window that ended while the store was away. */
function windowOf({ windowLeftMs }: NonNullable<ShownStatus["grant"]>): string {
  return windowLeftMs > 0 ? `${secondsOf(windowLeftMs)} left` : "used up";
}

function workerOf({ datacenterId, workerId, generation, sinceMs }: NonNullable<ShownStatus["grant"]>): string {
  return `${workerId} of datacenter ${datacenterId}, since ${timeOf(sinceMs)}, generation ${generation}`;
}

function storeOf({ kind, reachable, answerAgeMs, clockAheadMs }: ShownStatus["store"], paint: Paint): string {
  const parts = [
    printable(kind),
    // A store whose disk is full still answers reads.
    ...(reachable || answerAgeMs === undefined ? [] : [paint("bad", "a call to it failed")]),
    answerAgeMs === undefined ? paint("bad", "never answered") : `last answered ${secondsOf(answerAgeMs)} ago`,
    ...(clockAheadMs === undefined ? [] : [`its clock is ${aheadOrBehind(clockAheadMs)}`]),
  ];
  return parts.join(", ");
}

function aheadOrBehind(ms: number): string {
  const rounded = Math.round(ms);
  return `${Math.abs(rounded)} ms ${rounded < 0 ? "behind" : "ahead"}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function rateOf(key: "ids" | "values" | "calls" | "errors"): (span: readonly SecondSample[]) => string {
  return (span) => {
    const total = span.reduce((sum, sample) => sum + sample[key], 0);
    const rate = total / span.length;
    // One more digit, so that a slow server does not show 0.
    return rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
  };
}

function greatest(span: readonly SecondSample[], key: "p99Ms" | "leadMs"): string {
  const values = span.flatMap((sample) => sample[key] ?? []);
  return values.length === 0 ? "-" : `${Math.max(...values).toFixed(2)} ms`;
}
