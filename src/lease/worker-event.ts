import type { ClockEvent } from "../clock/clock-judge.ts";
import type { IdError } from "../errors.ts";
import type { GrantWaitCause } from "./holder-phase.ts";

/** Why a grant ended. */
export type GrantEnd =
  /** Given back: a stop, or a rebase that moved on to another worker ID. */
  | "released"
  /** Somebody else's write stands in its record: a takeover, or a copy of this process. */
  | "lost"
  /** Its clock reached the end of its window before a renewal was confirmed. */
  | "lapsed"
  /** Its record, or the place that held the records, is not what it was: the store lost data. */
  | "went-back";

/** The events of a worker, for logs and metrics. Times are Unix milliseconds. */
export type WorkerEvent =
  | {
      readonly kind: "acquired";
      readonly datacenterId: number;
      readonly workerId: number;
      readonly generation: number;
      readonly fromMs: number;
      readonly untilMs: number;
    }
  /** Went on under the grant of an earlier life, without asking the store. */
  | {
      readonly kind: "resumed";
      readonly datacenterId: number;
      readonly workerId: number;
      readonly generation: number;
      readonly fromMs: number;
      readonly untilMs: number;
    }
  | {
      readonly kind: "grant-ended";
      readonly end: GrantEnd;
      readonly datacenterId: number;
      readonly workerId: number;
      readonly detail: string;
    }
  /** A restart will not go on while the store is down: its folder cannot be used, or boots cannot be distinguished. */
  | { readonly kind: "no-resume"; readonly folder: string }
  /** Nothing can be granted before `untilMs`. */
  | {
      readonly kind: "waiting";
      readonly for: GrantWaitCause | "free-worker-id";
      readonly untilMs: number;
      readonly detail: string;
    }
  | { readonly kind: "store-problem"; readonly during: string; readonly error: IdError }
  | { readonly kind: "store-answers-again" }
  | { readonly kind: "quarantine-written"; readonly untilMs: number; readonly reason: string }
  | { readonly kind: "incarnation-changed"; readonly identity: string; readonly t0Ms: number }
  /** A renewal was held back because the wall clock is too far from the store's. */
  | { readonly kind: "clock-off"; readonly aheadMs: number }
  | { readonly kind: "rebase"; readonly aheadMs: number; readonly outcome: "moved" | "no-spare" | "pinned" }
  | ClockEvent
  /** The process did not run for so long. */
  | { readonly kind: "pause"; readonly lengthMs: number };
