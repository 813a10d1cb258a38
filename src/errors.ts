/**
 * Why something failed, by name. Equal to `ErrorReason` of proto/snowlane/v1/error_reason.proto and to docs/errors.md;
 * a test keeps them equal. Ordered by their numbers, from 1.
 */
export const errorReasons = [
  "COUNT_OUT_OF_RANGE",
  "MALFORMED_ID",
  "MALFORMED_TEXT",
  "AMBIGUOUS_TEXT",
  "INVALID_LAYOUT",
  "INVALID_TEXT_FORMAT",
  "INVALID_TIME_RANGE",
  "MISSING_CREDENTIALS",
  "METHOD_DENIED",
  "HOST_NOT_ALLOWED",
  "QUOTA_EXCEEDED",
  "CLOCK_ROLLED_BACK",
  "BURST_EXCEEDED",
  "WORKER_LEASE_LOST",
  "WINDOW_EXPIRED",
  "STORE_UNAVAILABLE",
  "SHUTTING_DOWN",
  "STREAM_STALLED",
  "TIMESTAMP_EXHAUSTED",
  "CLOCK_BEFORE_EPOCH",
  "NO_FREE_WORKER_ID",
  "LAYOUT_MISMATCH",
  "STORE_WENT_BACK",
  "INVALID_CONFIG",
  "SEQUENCE_NOT_FOUND",
  "SEQUENCE_EXISTS",
  "SEQUENCE_DISABLED",
  "SEQUENCE_CHANGED",
  "INVALID_SEQUENCE",
  "VALUES_EXHAUSTED",
  "PERIOD_CLOSED",
] as const;

/** One of {@link errorReasons}. */
export type ErrorReason = (typeof errorReasons)[number];

/** Details of an {@link IdError} besides its reason and message. */
export interface IdErrorDetails {
  /** Every dynamic value of the message, with its unit in the key. */
  readonly metadata?: Readonly<Record<string, string | number | bigint>>;
  /** The error that caused it; for the log only, never sent. */
  readonly cause?: unknown;
  /** After how many milliseconds a retry may help; absent where it cannot. */
  readonly retryAfterMs?: number;
}

/**
 * An error that a caller, an operator or the environment can act on. Match on `reason`, never on the message.
 *
 * A broken invariant is not an IdError: see assert.ts.
 */
export class IdError extends Error {
  override readonly name = "IdError";
  readonly reason: ErrorReason;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;

  constructor(reason: ErrorReason, message: string, details: IdErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.metadata = Object.fromEntries(
      Object.entries(details.metadata ?? {}).map(([key, value]) => [key, String(value)]),
    );
    this.retryAfterMs = details.retryAfterMs;
  }
}
