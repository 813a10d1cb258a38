import type { WorkerEvent } from "../lease/worker-event.ts";
import type { Log, LogLevel } from "./log.ts";

/** The log level and message of each event. */
const lines: { readonly [K in WorkerEvent["kind"]]: readonly [LogLevel, string] } = {
  acquired: ["info", "Holds a worker ID"],
  resumed: ["warn", "Goes on under the worker ID that it had, without the store"],
  "no-resume": [
    "warn",
    "Keeps no resume record, so a restart does not serve while the store is down; see --resume-dir",
  ],
  "grant-ended": ["warn", "No longer holds its worker ID"],
  waiting: ["warn", "Waits before a worker ID can be had"],
  "store-problem": ["warn", "The store did not answer as it should"],
  "store-answers-again": ["info", "The store answers again"],
  "quarantine-written": ["error", "The store lost data: no window is granted for a while"],
  "incarnation-changed": ["warn", "The store restarted or is another one"],
  "clock-off": ["error", "The clock is too far from the store's: its window is not renewed"],
  rebase: ["warn", "The clock went back far: another worker ID is taken"],
  "clock-step-back": ["warn", "The clock stepped back"],
  "clock-step-forward": ["warn", "The clock stepped forward"],
  pause: ["warn", "This process did not run for a while"],
};

/**
 * Writes the worker's reports as log lines. While `starting`, the line that reports that the server serves has the
 * worker ID, and the error that ends the start is reported as its end.
 */
export function logWorkerEvent(log: Log, event: WorkerEvent, phase: "starting" | "serving"): void {
  const { kind, ...fields } = event;
  const [level, message] = lines[kind];
  log[levelOf(event, phase) ?? level](message, { event: kind, ...fields });
}

function levelOf(event: WorkerEvent, phase: "starting" | "serving"): LogLevel | undefined {
  if (event.kind === "acquired" && phase === "starting") return "debug";
  if (event.kind === "store-problem" && phase === "starting" && event.error.reason === "INVALID_CONFIG") return "debug";
  return event.kind === "grant-ended" && event.end === "released" ? "debug" : undefined;
}
