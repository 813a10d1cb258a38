import { lengthOfTime } from "../clock/length-of-time.ts";
import { redactUrl } from "../config/store-url.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";
import { lossDetail } from "../lease/quarantine.ts";
import { withoutStop } from "../store/link/problem-text.ts";
import { storeKindOf } from "../store/store-kind.ts";
import type { Log, LogLevel } from "./log.ts";

/** How an event is reported: an operator reads the message alone, so it says everything. */
interface Line {
  readonly level: LogLevel;
  readonly message: string;
  /** Fields instead of those of the event. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

type LineOf<K extends WorkerEvent["kind"]> = (event: Extract<WorkerEvent, { kind: K }>, store: string) => Line;

const lines: { readonly [K in WorkerEvent["kind"]]: LineOf<K> } = {
  acquired: () => ({ level: "info", message: "Holds a worker ID" }),
  resumed: () => ({ level: "warn", message: "Goes on under the worker ID that it had, without the store" }),
  "new-deployment": ({ namespace, untilMs }, store) => {
    const begins = `Begins a new deployment: namespace ${namespace} has no records yet (${store})`;
    if (untilMs === undefined) return { level: "info", message: begins };
    const why = "This store cannot tell whether it was emptied";
    return { level: "info", message: `${begins}. ${why}, so the first worker ID can be granted at ${timeOf(untilMs)}` };
  },
  "no-resume": () => ({
    level: "warn",
    message: "Keeps no resume record, so a restart does not serve while the store is down; see --resume-dir",
  }),
  "grant-ended": ({ end, detail }) => {
    const message = "No longer holds its worker ID";
    if (end === "released") return { level: "debug", message };
    const cost = "Calls wait, or are refused, until another one is granted.";
    return { level: "warn", message: `${message}: ${withoutStop(detail)}. ${cost}` };
  },
  waiting: ({ detail, untilMs }) => {
    const until = Number.isFinite(untilMs) ? ` (until ${timeOf(untilMs)})` : "";
    return { level: "warn", message: `Waits before it can take a worker ID${until}: ${detail}` };
  },
  "still-waiting": ({ detail, forMs }) => ({
    level: "warn",
    message: `Has waited for a worker ID for ${lengthOfTime(forMs)}: ${detail}`,
  }),
  "store-problem": ({ during, error }, store) => ({
    level: "warn",
    message: withStore(error.message, store),
    fields: { during, reason: error.reason },
  }),
  "store-still-failing": ({ error, forMs, servesUntilMs }, store) => ({
    level: "warn",
    message: `${withStore(error.message, store)} This has lasted ${lengthOfTime(forMs)}. ${consequenceOf(servesUntilMs)}`,
    fields: { reason: error.reason, forMs, servesUntilMs },
  }),
  "store-answers-again": ({ forMs }, store) => ({
    level: "info",
    message: `The store answers again, ${lengthOfTime(forMs)} after it began to fail (${store})`,
  }),
  "window-half-gone": ({ leftMs, error }, store) => {
    const why = error === undefined ? "" : ` ${withStore(error.message, store)}`;
    const left = `IDs can be given out for ${lengthOfTime(leftMs)} more`;
    return {
      level: "warn",
      message: `Half of the window is gone, and no renewal has moved its end: ${left}.${why}`,
      fields: { leftMs, reason: error?.reason },
    };
  },
  "quarantine-written": ({ untilMs, reason }, store) => ({
    level: "error",
    message: `The store lost data (${reason}): no window is granted before ${timeOf(untilMs)} (${store})`,
  }),
  "incarnation-changed": (_event, store) => {
    const why = lossDetail(storeKindOf(store) ?? "").replace("the store", "The store");
    return { level: "warn", message: `${why}: new worker IDs wait for the quarantine, holders go on (${store})` };
  },
  "clock-offset": ({ aheadMs }, store) => ({
    level: "warn",
    message: `This machine's clock is ${offsetOf(aheadMs)} the store's (${store}): let NTP set both`,
  }),
  "clock-off": ({ aheadMs }, store) => ({
    level: "error",
    message:
      `The clock is too far from the store's: it is ${offsetOf(aheadMs)} it, so the window cannot be renewed as it ` +
      `should (${store}). Let NTP set both`,
  }),
  rebase: () => ({ level: "warn", message: "The clock went back far: another worker ID is taken" }),
  "clock-step-back": () => ({ level: "warn", message: "The clock stepped back" }),
  "clock-step-forward": () => ({ level: "warn", message: "The clock stepped forward" }),
  pause: () => ({ level: "warn", message: "This process did not run for a while" }),
};

/** Where the worker's reports go. */
export interface WorkerLogPlace {
  readonly log: Log;
  /** As it was given; it is shown without its password. */
  readonly storeUrl: string;
  /**
   * While `starting`, the line that says that the server serves has the worker ID, and an error that ends the start is
   * reported as its end.
   */
  readonly phase: "starting" | "serving";
}

/** Writes the worker's reports as log lines. The cause of an error is written at `debug` alone. */
export function logWorkerEvent(event: WorkerEvent, { log, storeUrl, phase }: WorkerLogPlace): void {
  const { kind, ...own } = event;
  const { level, message, fields } = (lines[kind] as LineOf<typeof kind>)(event, redactUrl(storeUrl));
  log[quietly(event, phase) ? "debug" : level](message, { event: kind, ...(fields ?? own) });
  if ("error" in event && event.error !== undefined)
    log.debug("The error behind the line before", { error: event.error });
}

/** Whether another line of the start reports the event. */
function quietly(event: WorkerEvent, phase: "starting" | "serving"): boolean {
  if (phase === "serving") return false;
  return event.kind === "acquired" || (event.kind === "store-problem" && event.error.reason === "INVALID_CONFIG");
}

/** Adds the store to a sentence. */
function withStore(message: string, store: string): string {
  return `${withoutStop(message)} (${store}).`;
}

function consequenceOf(servesUntilMs: number | undefined): string {
  if (servesUntilMs === undefined) return "No worker ID is held: IDs are refused until the store answers.";
  return `IDs are given out until ${timeOf(servesUntilMs)}; a renewal before then goes on from there.`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function offsetOf(aheadMs: number): string {
  return `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
}
