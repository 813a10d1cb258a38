import { type ErrorReason, IdError } from "../../../src/errors.ts";

/** Reasons that come from the client itself; all others come from the server. clients/README.md has the table. */
export type ClientReason =
  | "UNREACHABLE"
  | "DEADLINE_EXCEEDED"
  | "DEPLOYMENT_MISMATCH"
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

/** Details of a {@link SnowlaneError} beside its reason and message. */
export interface SnowlaneErrorDetails {
  /** The status code that the server answered with, or the one that fits the reason. */
  readonly code: StatusCode;
  /** What the server said in addition to the reason; keys carry units. Default: empty. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** After how many milliseconds a retry may help; undefined if it cannot help, or no server named a time. */
  readonly retryAfterMs?: number | undefined;
  /** The endpoint that was asked last; undefined if none was. */
  readonly endpoint?: string | undefined;
  /** The error that caused this one, if there is one. */
  readonly cause?: unknown;
}

/** Waiting does not help against these. */
const lasting: ReadonlySet<StatusCode> = new Set([
  "INVALID_ARGUMENT",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
]);

/** The one error of this package. Match on `reason`, never on the message. */
export class SnowlaneError extends Error {
  override readonly name = "SnowlaneError";
  readonly reason: SnowlaneReason;
  readonly code: StatusCode;
  /** What the server said in addition to the reason; keys carry units. */
  readonly metadata: Readonly<Record<string, string>>;
  /** After how many milliseconds a retry may help; undefined if it cannot help, or no server named a time. */
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

  /** `REASON: text (endpoint)`; without the parentheses if no endpoint was asked. */
  override toString(): string {
    return `${this.reason}: ${this.message}${this.endpoint === undefined ? "" : ` (${this.endpoint})`}`;
  }

  /** Whether waiting can help: the same call may succeed later although no one changes anything. */
  passes(): boolean {
    return !lasting.has(this.code) && !isFirstMistake(this);
  }

  /** Returns an error of this package unchanged, and anything else as RPC_FAILED. */
  static from(error: unknown): SnowlaneError {
    if (error instanceof SnowlaneError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new SnowlaneError("RPC_FAILED", message, { code: "UNKNOWN", cause: error });
  }
}

/** The most IDs of one call that is not a stream. */
export const countMax = 1_048_576;

/** Makes the error for a client or buffer that is closed. */
export function closedError(what: "client" | "buffer"): SnowlaneError {
  return new SnowlaneError("CLIENT_CLOSED", `The ${what} is closed.`, { code: "CANCELLED" });
}

/**
 * Returns the error for an aborted signal: its reason if that is a SnowlaneError (a client that closed),
 * DEADLINE_EXCEEDED for a signal that timed out, else CANCELLED.
 */
export function abortError({ reason }: AbortSignal): SnowlaneError {
  if (reason instanceof SnowlaneError) return reason;
  if (reason instanceof DOMException && reason.name === "TimeoutError") {
    const message = "The caller's signal timed out.";
    return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED", cause: reason });
  }
  return new SnowlaneError("CANCELLED", "The caller cancelled.", { code: "CANCELLED", cause: reason });
}

/** Makes the error for an answer that breaks the rules. It was dropped whole. */
export function invalidResponse(message: string, metadata: Readonly<Record<string, string>>): SnowlaneError {
  return new SnowlaneError("INVALID_RESPONSE", message, { code: "INTERNAL", metadata });
}

/** The most IDs or values of one stream. */
const streamCountMax = 1e9;

/**
 * Checks that the count of a stream is 1 to 10^9, inclusive.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkStreamCount(count: number): void {
  checkWhole(count, { field: "count", min: 1, max: streamCountMax });
}

/**
 * Checks that the count of any other call is 1 to 1,048,576, inclusive.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkCount(count: number): void {
  const hint = count > countMax && count <= streamCountMax ? " Use stream() for more." : "";
  checkWhole(count, { field: "count", min: 1, max: countMax, hint });
}

/**
 * Checks that the size of chunks is 0 (the server chooses) to 65,536, inclusive, which is the servers' limit.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkChunkSize(chunkSize: number): void {
  checkWhole(chunkSize, { field: "chunk_size", min: 0, max: 65_536 });
}

function checkWhole(
  value: number,
  { field, min, max, hint = "" }: { readonly field: string; readonly min: number; readonly max: number; hint?: string },
): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const message = `${field} is ${value}; it must be a whole number from ${min} to ${max}.${hint}`;
  const metadata = { [field]: String(value), [`${field}_max`]: String(max) };
  throw new SnowlaneError("COUNT_OUT_OF_RANGE", message, { code: "INVALID_ARGUMENT", metadata });
}

/**
 * Whether an error says that no Snowlane server is where the client looks, or none that speaks as the client expects:
 * only another option, or starting a server, can help. A closed connection is not such a sign, because a balancer
 * without a server closes its connections, too.
 */
export function isAbsence(error: SnowlaneError | undefined): boolean {
  const mistake = error?.metadata["connection"];
  return mistake !== undefined && mistake !== "closed";
}

/** Whether an error is one that {@link neverAnswered} returned. */
export function isFirstMistake({ metadata }: SnowlaneError): boolean {
  return metadata["answered"] === "never";
}

/**
 * Returns the error of a call that failed before any server ever answered, because there is no server at any endpoint.
 */
export function neverAnswered({ reason, code, message, metadata, endpoint, cause }: SnowlaneError): SnowlaneError {
  const hint =
    " Start a server there (snowlane serve), or correct the option endpoints: none has answered this client yet.";
  const isNobodyThere = metadata["connection"] === "refused" || metadata["connection"] === "no_address";
  const details = { code, metadata: { ...metadata, answered: "never" }, endpoint, cause };
  return new SnowlaneError(reason, `${message}${isNobodyThere ? hint : ""}`, details);
}

/**
 * Runs an offline operation, and turns its errors into {@link SnowlaneError}. docs/adr/0050 says why the client uses
 * the server's sources.
 */
export function offline<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    const { reason, message, metadata } = error;
    throw new SnowlaneError(reason, message, { code: "INVALID_ARGUMENT", metadata, cause: error });
  }
}
