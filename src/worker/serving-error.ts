import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import type { HolderPhase } from "./holder-phase.ts";
import type { GrantWaitCause } from "../lease/worker-event.ts";

/** About as long as acquiring a worker ID, or a store that starts again, takes. */
const retryAfterMs = 1_000;

/** The error of a call to a worker that is closed, or closing. */
export function shuttingDownError(): IdError {
  return new IdError("SHUTTING_DOWN", "This server is shutting down; call another one.", { retryAfterMs });
}

/** The error of a call while the store's clock has contradicted ours for too long. */
export function distrustedClockError(): IdError {
  const message = "The clock of this server stepped forward, and the store's clock contradicts it; call another one.";
  return new IdError("CLOCK_ROLLED_BACK", message, { retryAfterMs });
}

/**
 * The error of a call in a phase without IDs; undefined in a phase that may have one. Names no hosts, paths or other
 * holders: those are in the cause, which is for the log.
 *
 * @param nowMs - Unix milliseconds.
 */
export function phaseError(phase: HolderPhase, nowMs: number): IdError | undefined {
  if (phase.kind === "holding") return undefined;
  if (phase.kind === "rebasing") return phase.spare === "unknown" ? undefined : rolledBack();
  if (phase.kind === "waiting") return waiting(phase.for, Math.max(1, Math.ceil(phase.untilMs - nowMs)));
  if (phase.kind === "failed") return phase.error;
  if (phase.kind === "releasing" || phase.kind === "released") return shuttingDownError();
  return acquiring(phase.kind === "acquiring" ? phase.problem : undefined);
}

const waitReasons: Readonly<Record<GrantWaitCause, string>> = {
  mark: "earlier IDs lie ahead of the clock",
  quarantine: "the store is under quarantine",
  silence: "a silent holder's worker ID is being watched",
};

function waiting(what: GrantWaitCause, leftMs: number): IdError {
  // Rounded up, so that no message says to wait for 0.0 s.
  const left = lengthOfTime(Math.ceil(leftMs / 100) * 100);
  const message = `No worker ID can be used for another ${left}: ${waitReasons[what]}.`;
  return new IdError("WORKER_LEASE_LOST", message, { retryAfterMs: leftMs, metadata: { wait_ms: leftMs } });
}

function rolledBack(): IdError {
  const message = "The clock of this server went back, and there is no spare worker ID to move to; call another one.";
  return new IdError("CLOCK_ROLLED_BACK", message, { retryAfterMs });
}

function acquiring(cause: IdError | undefined): IdError {
  if (cause?.reason === "CLOCK_BEFORE_EPOCH" || cause?.reason === "TIMESTAMP_EXHAUSTED") return cause;
  if (cause === undefined || cause.reason === "WORKER_LEASE_LOST") {
    const message = "This server holds no worker ID at the moment; it is acquiring one.";
    return new IdError("WORKER_LEASE_LOST", message, { cause, retryAfterMs });
  }
  if (cause.reason === "NO_FREE_WORKER_ID") {
    const message = "This server holds no worker ID at the moment; all are in use.";
    return new IdError("WORKER_LEASE_LOST", message, { cause, retryAfterMs });
  }
  const message = "This server holds no worker ID at the moment: the store of the worker records cannot be used.";
  return new IdError("STORE_UNAVAILABLE", message, { cause, retryAfterMs });
}
