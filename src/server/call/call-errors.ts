/** Errors that end a call for a cause outside its method. */
import { Code, ConnectError } from "@connectrpc/connect";
import { lengthOfTime } from "../../clock/length-of-time.ts";
import { IdError } from "../../errors.ts";
import { toConnectError } from "../../service/connect-error.ts";

/** The delay that RetryInfo names while a server stops: about as long as another one needs to take its place. */
const retryElsewhereMs = 1_000;

/** How long a caller should wait for a stream to end: when one will end is not known. */
const streamRetryMs = 1_000;

let gone: ConnectError | undefined;
let over: ConnectError | undefined;

/**
 * The caller cancelled the call, or its connection closed. One for all calls: nobody reads where it was made. It is
 * made at its first use, because a first ConnectError has Node load its `fetch`, a fifth of what `snowlane next` takes.
 */
export function callerGone(): ConnectError {
  return (gone ??= new ConnectError("the caller has gone", Code.Canceled));
}

/** The call went well, and is over: as {@link callerGone} one for all calls. */
export function callOver(): ConnectError {
  return (over ??= new ConnectError("the call is over", Code.Canceled));
}

/** The caller's deadline has passed. */
export function deadlinePassed(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}

/** The reader of the response took too little for `stallTimeoutMs`: STREAM_STALLED. */
export function readerStalled(stallTimeoutMs: number): ConnectError {
  const message = `The reader took too little for ${lengthOfTime(stallTimeoutMs)}.`;
  return fromIdError(
    new IdError("STREAM_STALLED", message, { metadata: { stall_timeout_ms: stallTimeoutMs }, retryAfterMs: 0 }),
  );
}

/** The server stops: SHUTTING_DOWN. */
export function shuttingDown(): ConnectError {
  const message = "The server is shutting down: call another one.";
  return fromIdError(new IdError("SHUTTING_DOWN", message, { retryAfterMs: retryElsewhereMs }));
}

/** The callers without credentials already have all the streams that this bound allows: QUOTA_EXCEEDED. */
export function streamsExceeded(bound: "connection" | "network", max: number, network: string): ConnectError {
  const message = `As many streams are open as a caller without credentials may have: ${max} of its ${bound}.`;
  const metadata = { streams_max: max, network };
  return fromIdError(new IdError("QUOTA_EXCEEDED", message, { metadata, retryAfterMs: streamRetryMs }));
}

/** Each of these reasons has a code, so nothing is unforeseen. */
function fromIdError(error: IdError): ConnectError {
  return toConnectError(error, () => "");
}
