import { type ErrorReason, IdError } from "../../../src/errors.ts";

/** Reasons that the client finds by itself; the others are the server's. clients/README.md has the table. */
export type ClientReason =
  | "UNREACHABLE"
  | "DEADLINE_EXCEEDED"
  | "CANCELLED"
  | "CLIENT_CLOSED"
  | "STOCK_EMPTY"
  | "INVALID_RESPONSE"
  | "RPC_FAILED"
  | "SCRIPT_ENDED";

/** Why a call failed. */
export type SnowlaneReason = ErrorReason | ClientReason;

/** The gRPC status codes by name. */
export type StatusCode =
  | "CANCELLED"
  | "UNKNOWN"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

/** What a {@link SnowlaneError} is made of beside its reason and message. */
export interface SnowlaneErrorDetails {
  readonly code: StatusCode;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number | undefined;
  readonly endpoint?: string | undefined;
  readonly cause?: unknown;
}

/** The one error of this package. Match on `reason`, never on the message. */
export class SnowlaneError extends Error {
  override readonly name = "SnowlaneError";
  readonly reason: SnowlaneReason;
  readonly code: StatusCode;
  /** What the server said beside the reason; keys carry units. */
  readonly metadata: Readonly<Record<string, string>>;
  /** After how many milliseconds a retry may help; undefined where it cannot, or nobody knows. */
  readonly retryAfterMs: number | undefined;
  /** The endpoint that was asked last; undefined if none was. */
  readonly endpoint: string | undefined;

  constructor(reason: SnowlaneReason, message: string, details: SnowlaneErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.code = details.code;
    this.metadata = details.metadata ?? {};
    this.retryAfterMs = details.retryAfterMs;
    this.endpoint = details.endpoint;
  }

  /** Gives an error of this package as it stands, and anything else as RPC_FAILED. */
  static from(error: unknown): SnowlaneError {
    if (error instanceof SnowlaneError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new SnowlaneError("RPC_FAILED", message, { code: "UNKNOWN", cause: error });
  }
}

/** Makes the error for a client or buffer that is closed. */
export function closedError(what: "client" | "buffer"): SnowlaneError {
  return new SnowlaneError("CLIENT_CLOSED", `The ${what} is closed.`, { code: "CANCELLED" });
}

/** Gives the error for an aborted signal: its reason if that is one of ours (a client that closed), else CANCELLED. */
export function abortError({ reason }: AbortSignal): SnowlaneError {
  if (reason instanceof SnowlaneError) return reason;
  return new SnowlaneError("CANCELLED", "The caller cancelled.", { code: "CANCELLED", cause: reason });
}

/** Makes the error for an answer that breaks the rules. It was dropped whole. */
export function invalidResponse(message: string, metadata: Readonly<Record<string, string>>): SnowlaneError {
  return new SnowlaneError("INVALID_RESPONSE", message, { code: "INTERNAL", metadata });
}

/**
 * Holds a count to 1 to `countMax`, inclusive.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkCount(count: number, countMax: number): void {
  checkWhole(count, { field: "count", min: 1, max: countMax });
}

/**
 * Holds the size of chunks to 0 (the server chooses) to 65,536, inclusive, which is the servers' limit.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkChunkSize(chunkSize: number): void {
  checkWhole(chunkSize, { field: "chunk_size", min: 0, max: 65_536 });
}

function checkWhole(
  value: number,
  { field, min, max }: { readonly field: string; readonly min: number; readonly max: number },
): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const message = `${field} is ${value}; it must be a whole number from ${min} to ${max}.`;
  const metadata = { [field]: String(value), [`${field}_max`]: String(max) };
  throw new SnowlaneError("COUNT_OUT_OF_RANGE", message, { code: "INVALID_ARGUMENT", metadata });
}

/** Runs what works offline; its errors come out as {@link SnowlaneError}. */
export function offline<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    const { reason, message, metadata } = error;
    throw new SnowlaneError(reason, message, { code: "INVALID_ARGUMENT", metadata, cause: error });
  }
}
