import { type ErrorReason, IdError } from "../../../src/errors.ts";

/** Reasons that the client finds by itself; the others are the server's. clients/README.md has the table. */
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
  /** What the server said beside the reason; keys carry units. Default: empty. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** After how many milliseconds a retry may help; undefined where it cannot, or nobody knows. */
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

  /** `REASON: text (endpoint)`; without the brackets where no endpoint was asked. */
  override toString(): string {
    return `${this.reason}: ${this.message}${this.endpoint === undefined ? "" : ` (${this.endpoint})`}`;
  }

  /** Whether waiting can cure it: the same call may succeed later, with nobody doing anything about it. */
  passes(): boolean {
    return !lasting.has(this.code) && !isFirstMistake(this);
  }

  /** Gives an error of this package as it stands, and anything else as RPC_FAILED. */
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
 * Gives the error for an aborted signal: its reason if that is one of ours (a client that closed), DEADLINE_EXCEEDED
 * for a signal that timed out, else CANCELLED.
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

/**
 * Holds the count of a stream to 1 to 10^9, inclusive.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkStreamCount(count: number): void {
  checkWhole(count, { field: "count", min: 1, max: 1e9 });
}

/**
 * Holds the count of any other call to 1 to 1,048,576, inclusive.
 *
 * @throws SnowlaneError COUNT_OUT_OF_RANGE.
 */
export function checkCount(count: number): void {
  const hint = count > countMax ? " Use stream() for more." : "";
  checkWhole(count, { field: "count", min: 1, max: countMax, hint });
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
  { field, min, max, hint = "" }: { readonly field: string; readonly min: number; readonly max: number; hint?: string },
): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const message = `${field} is ${value}; it must be a whole number from ${min} to ${max}.${hint}`;
  const metadata = { [field]: String(value), [`${field}_max`]: String(max) };
  throw new SnowlaneError("COUNT_OUT_OF_RANGE", message, { code: "INVALID_ARGUMENT", metadata });
}

/**
 * Whether an error says that no server of ours is where the client looks, or not in the way in which it looks: nothing
 * but another option or a server that is started can help. A connection that was closed may be a balancer's without a
 * server.
 */
export function isAbsence(error: SnowlaneError | undefined): boolean {
  const mistake = error?.metadata["connection"];
  return mistake !== undefined && mistake !== "closed";
}

/** Whether an error is that of {@link neverAnswered}. */
export function isFirstMistake({ metadata }: SnowlaneError): boolean {
  return metadata["answered"] === "never";
}

/** Gives the error of a call before the first answer ever, where a server is at none of the endpoints. */
export function neverAnswered({ reason, code, message, metadata, endpoint, cause }: SnowlaneError): SnowlaneError {
  const hint =
    " Start a server there (snowlane serve), or correct the option endpoints: none has answered this client yet.";
  const isNobodyThere = metadata["connection"] === "refused" || metadata["connection"] === "no_address";
  const details = { code, metadata: { ...metadata, answered: "never" }, endpoint, cause };
  return new SnowlaneError(reason, `${message}${isNobodyThere ? hint : ""}`, details);
}

/**
 * Runs what works offline; its errors come out as {@link SnowlaneError}. docs/adr/0050 says why the client uses the
 * server's sources.
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
