import type { WaitCause } from "./holder-phase.ts";
import type { IdError } from "../errors.ts";

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

/** What the worker tells its surroundings, for logs and metrics. Times are Unix milliseconds. */
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
  | { readonly kind: "grant-ended"; readonly end: GrantEnd; readonly workerIndex: number; readonly detail: string }
  /** A restart will not go on while the store is down: its folder cannot be used, or boots cannot be told apart. */
  | { readonly kind: "no-resume"; readonly folder: string }
  /** Nothing can be granted before `untilMs`. */
  | {
      readonly kind: "waiting";
      readonly for: WaitCause | "free-worker-id";
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
  | { readonly kind: "clock-step-back"; readonly stepMs: number }
  | { readonly kind: "clock-step-forward"; readonly stepMs: number; readonly verdict: ClockVerdict }
  /** The process did not run for so long. */
  | { readonly kind: "pause"; readonly lengthMs: number };

/** What became of a forward step of the wall clock: see clock-judge.ts. */
export type ClockVerdict =
  /** Seen; time goes on by the monotonic clock until it is decided. */
  | "judging"
  /** The machine slept: uptime grew by as much. */
  | "suspended"
  /** The store's clock says the same. */
  | "confirmed"
  /** Nobody could say; the new time has agreed with itself long enough. */
  | "agreed"
  /** The store's clock disagrees: the step is not followed. */
  | "contradicted"
  /** The wall clock went back to where it should be. */
  | "withdrawn";
