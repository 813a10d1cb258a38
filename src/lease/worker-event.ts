import type { ClockEvent } from "../clock/clock-judge.ts";
import type { IdError } from "../errors.ts";

/** Why a grant ended. */
export type GrantEnd =
  /** Given back: a stop, or a rebase that moved on to another worker ID. */
  | "released"
  /** Another process wrote its record: a takeover, or a copy of this process. */
  | "lost"
  /** Its clock reached the end of its window before a renewal was confirmed. */
  | "lapsed"
  /** Its record, or the place that held the records, is not as it was: the store lost data. */
  | "regressed";

/**
 * The event that a holder waits for: a clock above the mark, the end of a quarantine, a record that has not changed for
 * a whole TTL.
 */
export type GrantWaitCause = "mark" | "quarantine" | "silence";

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
  /**
   * Wrote the first records of a namespace. `untilMs`: nothing is granted before then, as the store may have been
   * emptied.
   */
  | { readonly kind: "new-deployment"; readonly namespace: string; readonly untilMs: number | undefined }
  /** Continued under the grant of an earlier life, without asking the store. */
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
  /** A restart cannot resume while the store is down: the folder cannot be used, or boots cannot be distinguished. */
  | { readonly kind: "no-resume"; readonly folder: string }
  /** Nothing can be granted before `untilMs`. */
  | {
      readonly kind: "waiting";
      readonly for: GrantWaitCause | "free-worker-id";
      readonly untilMs: number;
      readonly detail: string;
    }
  | { readonly kind: "store-problem"; readonly during: string; readonly error: IdError }
  /**
   * Once a minute while the store does not answer. IDs are issued until `servesUntilMs` at the latest; undefined: no
   * IDs are.
   */
  | {
      readonly kind: "store-still-failing";
      readonly error: IdError;
      readonly forMs: number;
      readonly servesUntilMs: number | undefined;
    }
  /** `forMs`: since the first failure. */
  | { readonly kind: "store-answers-again"; readonly forMs: number }
  /** Once a minute while the store answers and there is still no worker ID. */
  | { readonly kind: "still-waiting"; readonly detail: string; readonly forMs: number }
  /** Half of the window or less is left, because no renewal has moved its end. */
  | { readonly kind: "window-half-gone"; readonly leftMs: number; readonly error: IdError | undefined }
  | { readonly kind: "quarantine-written"; readonly untilMs: number; readonly reason: string }
  | { readonly kind: "incarnation-changed"; readonly identity: string; readonly t0Ms: number }
  /** The wall clock is 2 s or more from the store's. */
  | { readonly kind: "clock-offset"; readonly aheadMs: number }
  /** A renewal was held back, or moved nothing, because the wall clock is too far from the store's. */
  | { readonly kind: "clock-off"; readonly aheadMs: number }
  | { readonly kind: "rebase"; readonly aheadMs: number; readonly outcome: "moved" | "no-spare" | "pinned" }
  | ClockEvent
  /** The process did not run for `lengthMs`. */
  | { readonly kind: "pause"; readonly lengthMs: number };
