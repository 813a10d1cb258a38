import { type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { type ErrorReason, IdError } from "../errors.ts";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { RequestError } from "./message/request-error.ts";
import { nsToDuration } from "./message/time-message.ts";

/** `ErrorInfo.domain` of every error. */
const errorDomain = "snowlane.dev";

/** Reasons that an operator sees when a server starts. A call never ends with one. */
type StartReason = "NO_FREE_WORKER_ID" | "LAYOUT_MISMATCH" | "INVALID_CONFIG";

/** The credentials that would be accepted: RFC 9110 section 11.6.1, RFC 6750 section 3. */
const challenge = { "www-authenticate": 'Bearer realm="snowlane"' };

/** The code that each reason travels under. A test checks that docs/errors.md agrees. */
export const codeOfReason: Readonly<Record<Exclude<ErrorReason, StartReason>, Code>> = {
  COUNT_OUT_OF_RANGE: Code.InvalidArgument,
  MALFORMED_ID: Code.InvalidArgument,
  MALFORMED_TEXT: Code.InvalidArgument,
  AMBIGUOUS_TEXT: Code.InvalidArgument,
  INVALID_LAYOUT: Code.InvalidArgument,
  INVALID_TEXT_FORMAT: Code.InvalidArgument,
  INVALID_TIME_RANGE: Code.InvalidArgument,
  MISSING_CREDENTIALS: Code.Unauthenticated,
  METHOD_DENIED: Code.PermissionDenied,
  HOST_NOT_ALLOWED: Code.PermissionDenied,
  QUOTA_EXCEEDED: Code.ResourceExhausted,
  CLOCK_ROLLED_BACK: Code.Unavailable,
  BURST_EXCEEDED: Code.Unavailable,
  WORKER_LEASE_LOST: Code.Unavailable,
  WINDOW_EXPIRED: Code.Unavailable,
  STORE_UNAVAILABLE: Code.Unavailable,
  SHUTTING_DOWN: Code.Unavailable,
  STREAM_STALLED: Code.Unavailable,
  TIMESTAMP_EXHAUSTED: Code.FailedPrecondition,
  CLOCK_BEFORE_EPOCH: Code.FailedPrecondition,
  STORE_WENT_BACK: Code.FailedPrecondition,
  SEQUENCE_NOT_FOUND: Code.NotFound,
  SEQUENCE_EXISTS: Code.AlreadyExists,
  SEQUENCE_DISABLED: Code.FailedPrecondition,
  SEQUENCE_CHANGED: Code.Aborted,
  INVALID_SEQUENCE: Code.InvalidArgument,
  VALUES_EXHAUSTED: Code.FailedPrecondition,
  PERIOD_CLOSED: Code.FailedPrecondition,
};

/**
 * Turns an error that a handler threw into the one that its caller gets: code, ErrorInfo, RetryInfo if waiting helps,
 * BadRequest if a field of the request is at fault. A ConnectError stays as it is. Any other error is handed to
 * `onUnforeseen`, and the caller gets INTERNAL without its cause, but with the reference that `onUnforeseen` returns.
 */
export function toConnectError(error: unknown, onUnforeseen: (error: unknown) => string): ConnectError {
  if (error instanceof ConnectError) return error;
  const code = error instanceof IdError ? codeOf(error.reason) : undefined;
  if (!(error instanceof IdError) || code === undefined) {
    const reference = onUnforeseen(error);
    const message = `Internal error. The server's log has its cause, under the reference ${reference}.`;
    const value = { reason: "INTERNAL", domain: errorDomain, metadata: { reference } };
    return new ConnectError(message, Code.Internal, undefined, [{ desc: ErrorInfoSchema, value }]);
  }
  const { reason, message, metadata, retryAfterMs } = error;
  const details: { desc: DescMessage; value: MessageInitShape<DescMessage> }[] = [
    { desc: ErrorInfoSchema, value: { reason, domain: errorDomain, metadata } },
  ];
  if (retryAfterMs !== undefined)
    details.push({ desc: RetryInfoSchema, value: { retryDelay: nsToDuration(Math.ceil(retryAfterMs) * 1e6) } });
  if (error instanceof RequestError) {
    const fieldViolations = [{ field: error.field, description: message, reason }];
    details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  return new ConnectError(message, code, reason === "MISSING_CREDENTIALS" ? challenge : undefined, details);
}

function codeOf(reason: ErrorReason): Code | undefined {
  const codes: Partial<Record<ErrorReason, Code>> = codeOfReason;
  return codes[reason];
}

/** Turns an error that a call of this path (`/` package.Service `/` Method) threw into the one that its caller gets. */
export type ToCallError = (error: unknown, path: string) => ConnectError;

/** Applies `toError` to every call that goes through Connect's handlers. */
export function errorInterceptor(toError: ToCallError): Interceptor {
  return (next) => async (request) => {
    const translate = (error: unknown): ConnectError =>
      toError(error, `/${request.service.typeName}/${request.method.name}`);
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: translated(response.message, translate) } : response;
    } catch (error) {
      throw translate(error);
    }
  };
}

async function* translated<T>(
  messages: AsyncIterable<T>,
  translate: (error: unknown) => ConnectError,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw translate(error);
  }
}
