import { type ErrorReason, IdError } from "../errors.ts";
import type { IdRun } from "./run.ts";

/** Why no ID is available now although the grant is held. */
type RefusalCause =
  /** The lead over the clock is used up: more was asked for than the layout can issue in this time. */
  | "burst"
  /** The clock has gone back, and has to catch up. */
  | "rollback"
  /** The window ends: only `extend` helps. */
  | "window";

/** The answer of a generator. */
export type Reservation =
  /** At least one ID; the runs are in issue order. */
  | { readonly kind: "runs"; readonly runs: readonly IdRun[] }
  /** No ID. `untilMs`: the Unix millisecond at which trying again makes sense; above the reading that was passed. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly cause: RefusalCause }
  /**
   * No ID, and the last timestamp is `aheadMs` ahead of the clock, more than is allowed: the holder must move to
   * another worker ID. `untilMs`: the Unix millisecond from which on it would be allowed.
   */
  | { readonly kind: "rolled-back"; readonly aheadMs: number; readonly untilMs: number };

/** A reservation without an ID. */
export type Refusal = Exclude<Reservation, { readonly kind: "runs" }>;

/** After how long a caller may look again whether the window was extended. */
const windowRetryMs = 20;

/** The refusal at the end of a window, for a reading of `nowMs`. */
export function windowRefusal(nowMs: number): Refusal {
  return { kind: "wait", untilMs: nowMs + windowRetryMs, cause: "window" };
}

const waitReasons: Readonly<Record<RefusalCause, readonly [ErrorReason, string]>> = {
  burst: ["BURST_EXCEEDED", "All IDs up to the allowed lead over the clock are issued"],
  rollback: ["CLOCK_ROLLED_BACK", "The clock went back and has not caught up"],
  window: ["WINDOW_EXPIRED", "All timestamps of the confirmed window are issued"],
};

/**
 * Returns the error of a refusal for a caller that cannot wait: BURST_EXCEEDED, CLOCK_ROLLED_BACK or WINDOW_EXPIRED,
 * always with `retryAfterMs`.
 *
 * @param nowMs - The reading that the refusal answered.
 */
export function refusalError(refusal: Refusal, nowMs: number): IdError {
  const retryAfterMs = Math.max(1, refusal.untilMs - nowMs);
  if (refusal.kind === "rolled-back") {
    const message = `The last timestamp is ${refusal.aheadMs} ms ahead of the clock, more than the allowed lead.`;
    const metadata = { ahead_ms: refusal.aheadMs, retry_after_ms: retryAfterMs };
    return new IdError("CLOCK_ROLLED_BACK", message, { metadata, retryAfterMs });
  }
  const [reason, message] = waitReasons[refusal.cause];
  const metadata = { retry_after_ms: retryAfterMs };
  return new IdError(reason, `${message}; a retry may help after ${retryAfterMs} ms.`, { metadata, retryAfterMs });
}
