/** The errors that callers of sequences get. */
import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import type { StoredSequence } from "./sequence.ts";

const cannotBeUsed = "The database of sequences cannot be used now.";
const lostData = "The database of sequences is not what it was: it has lost data, or was moved, deleted or replaced.";
/** After how long a retry may help if the database does not answer. */
const retryMs = 1_000;

/** The error of calls for a sequence that is disabled. */
export function disabledError({ definition: { name } }: StoredSequence): IdError {
  return new IdError("SEQUENCE_DISABLED", `The sequence ${name} is disabled.`, { metadata: { name } });
}

/** The error of calls for a sequence that has no value left. */
export function exhaustedError({ definition: { name, valueMax } }: StoredSequence): IdError {
  const message = `The sequence ${name} has handed out all its values, up to ${valueMax}.`;
  return new IdError("VALUES_EXHAUSTED", message, { metadata: { name, value_max: valueMax } });
}

/** The error of calls for a value of a period that was pruned. */
export function closedError({ definition: { name }, closedBefore }: StoredSequence, periodKey: string): IdError {
  const message = `The period ${periodKey} of the sequence ${name} is closed: an operator has pruned all before ${closedBefore}.`;
  const metadata = { name, period_key: periodKey, closed_before: closedBefore };
  return new IdError("PERIOD_CLOSED", message, { metadata });
}

/** The error of calls for a value of a period that the template cannot write. */
export function unwritableError({ definition: { name } }: StoredSequence, periodKey: string, problem: string): IdError {
  const message = `The sequence ${name} gives no value of the period ${periodKey}: ${problem}.`;
  return new IdError("PERIOD_CLOSED", message, { metadata: { name, period_key: periodKey } });
}

/** The error of calls for a value of a time whose period has not begun, or ended too long ago. */
export function lateError({ definition: { name, lateMaxMs } }: StoredSequence, periodKey: string): IdError {
  const message = `The period ${periodKey} of the sequence ${name} has not begun, or ended more than ${lengthOfTime(lateMaxMs)} ago (late_max).`;
  return new IdError("PERIOD_CLOSED", message, { metadata: { name, period_key: periodKey, late_max_ms: lateMaxMs } });
}

/** The error of a call to sequences that are being closed. */
export function shuttingDown(): IdError {
  return new IdError("SHUTTING_DOWN", "The server is shutting down.", { retryAfterMs: 1 });
}

/** The error for a caller. The database's own error is not shown, because it may name addresses, paths and users. */
export function callerError(cause: unknown): IdError {
  if (!(cause instanceof IdError))
    return new IdError("STORE_UNAVAILABLE", cannotBeUsed, { cause, retryAfterMs: retryMs });
  // It was already converted here.
  if (!isOfDatabase(cause) || cause.message === cannotBeUsed) return cause;
  if (cause.reason === "STORE_WENT_BACK") return new IdError("STORE_WENT_BACK", lostData, { cause });
  return new IdError("STORE_UNAVAILABLE", cannotBeUsed, { cause, retryAfterMs: cause.retryAfterMs ?? retryMs });
}

/** Whether it is an error of the database itself, and not of its content: errors of the database name the store. */
export function isOfDatabase({ reason, metadata }: IdError): boolean {
  return reason === "STORE_UNAVAILABLE" || reason === "INVALID_CONFIG" || metadata["store"] !== undefined;
}
