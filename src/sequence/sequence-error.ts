/** The errors that callers of sequences get. */
import { IdError } from "../errors.ts";
import type { StoredSequence } from "./sequence.ts";

const cannotBeUsed = "The database of sequences cannot be used now.";
/** When a retry may help where the database does not answer. */
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

/** The error of a call to sequences that are being closed. */
export function shuttingDown(): IdError {
  return new IdError("SHUTTING_DOWN", "The server is shutting down.", { retryAfterMs: 1 });
}

/** The error for a caller: the database's own is not shown, because it may name addresses and users. */
export function callerError(cause: unknown): IdError {
  if (cause instanceof IdError && cause.reason !== "STORE_UNAVAILABLE" && cause.reason !== "INVALID_CONFIG")
    return cause;
  // It has been through here before.
  if (cause instanceof IdError && cause.message === cannotBeUsed) return cause;
  const retryAfterMs = (cause instanceof IdError ? cause.retryAfterMs : undefined) ?? retryMs;
  return new IdError("STORE_UNAVAILABLE", cannotBeUsed, { cause, retryAfterMs });
}
