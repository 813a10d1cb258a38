import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../src/gen/google/rpc/error_details_pb.ts";
import { type ErrorReason, errorReasons } from "../../../src/errors.ts";
import { mistakeOf, mistakeTexts } from "./connection-mistake.ts";
import { SnowlaneError, type SnowlaneErrorDetails, type StatusCode } from "./errors.ts";

/** The domain of a google.rpc.ErrorInfo whose reasons are Snowlane's. */
const domain = "snowlane.dev";
const knownReasons: ReadonlySet<string> = new Set(errorReasons);

const statusCodes: Readonly<Record<Code, StatusCode>> = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "UNKNOWN",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "OUT_OF_RANGE",
  [Code.Unimplemented]: "UNIMPLEMENTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "DATA_LOSS",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
};

/**
 * Reads the error of an attempt that its caller did not cancel. Errors of this package pass unchanged. An error that is
 * not a transport's was thrown before the call went out, and says nothing about the endpoint: RPC_FAILED.
 *
 * A failure without an answer from the server (connection refused, reset or closed, no trailers) is UNREACHABLE,
 * whatever code the transport gives it: such errors carry a cause, or none of the server's trailers.
 */
export function errorOfRpc(error: unknown, { endpoint }: { readonly endpoint: string }): SnowlaneError {
  if (!(error instanceof ConnectError)) return SnowlaneError.from(error);
  const info = error.findDetails(ErrorInfoSchema).find((info) => info.domain === domain);
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  const retryAfterMs = delay === undefined ? undefined : Number(delay.seconds) * 1_000 + delay.nanos / 1e6;
  const code = statusCodes[error.code];
  const details = { code, metadata: info?.metadata ?? {}, retryAfterMs, endpoint, cause: error };
  const message = error.rawMessage || code;
  if (info !== undefined) {
    if (knownReasons.has(info.reason)) return new SnowlaneError(info.reason as ErrorReason, message, details);
    const metadata = { ...details.metadata, reason: info.reason };
    return new SnowlaneError("RPC_FAILED", message, { ...details, metadata });
  }
  if (code === "DEADLINE_EXCEEDED") return new SnowlaneError("DEADLINE_EXCEEDED", message, details);
  // The caller did not cancel: the server, or a proxy that is shutting down, has dropped the call.
  if (code === "UNAVAILABLE" || code === "CANCELLED" || isOfTransport(error)) {
    return new SnowlaneError("UNREACHABLE", ...describeUnreachable(error, details));
  }
  return new SnowlaneError("RPC_FAILED", message, details);
}

/** The text of a failure without an answer: that of the mistake, if it is a known one. */
function describeUnreachable(error: ConnectError, details: SnowlaneErrorDetails): [string, SnowlaneErrorDetails] {
  const unavailable = { ...details, code: "UNAVAILABLE" } as const;
  const connection = mistakeOf(error);
  if (connection !== undefined) {
    const isSocket = connection === "refused" && details.endpoint?.startsWith("unix:") === true;
    const message = isSocket ? "There is no such socket: no server listens there." : mistakeTexts[connection];
    return [message, { ...unavailable, metadata: { ...details.metadata, connection } }];
  }
  if (isAnswer(error)) return [`The server cannot answer now: ${error.rawMessage || details.code}`, unavailable];
  // The names of source files in OpenSSL's texts do not help a user.
  const text = error.rawMessage.trim().replace(/^[\dA-F]+:error:[\dA-F]+:SSL routines:(?:[^:]*:)?([^:]+):.*$/, "$1");
  return [`The server does not answer: ${text}${cureOfOrigin(details)}`, unavailable];
}

/** Whether a server sent it. */
function isAnswer({ cause, details, metadata }: ConnectError): boolean {
  return cause === undefined && (details.length > 0 || metadata.has("grpc-status"));
}

/** Whether an error is UNREACHABLE although a server answered. */
export function isUnreachableByAnswer({ reason, cause }: SnowlaneError): boolean {
  return reason === "UNREACHABLE" && cause instanceof ConnectError && isAnswer(cause);
}

/**
 * A browser does not reveal the reason to a page or its workers: the server may not be running, or may not allow their
 * origin. Only browsers have an origin.
 */
function cureOfOrigin({ endpoint = "" }: SnowlaneErrorDetails): string {
  const { origin } = globalThis as { readonly origin?: string };
  if (origin === undefined || origin === new URL(endpoint).origin) return "";
  return `. A page of another origin needs a server with --cors-origin ${origin}.`;
}

/** Whether an error was created on this side of the wire, by a connection that broke. */
function isOfTransport({ code, cause, details, metadata }: ConnectError): boolean {
  if (cause !== undefined) return true;
  const fromServer = details.length > 0 || metadata.has("grpc-status");
  return !fromServer && (code === Code.Aborted || code === Code.DataLoss);
}
