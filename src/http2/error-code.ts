/** The error codes that RST_STREAM and GOAWAY carry: RFC 9113 section 7. */
export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  connectError: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

/** Any code of RFC 9113 section 7; what a peer sends may be one that we do not know. */
export type ErrorCode = number;

/**
 * A rule that the peer broke. The error has no stack trace: the fault is not in this program, and a peer can cause
 * hundreds at once, where taking a trace would cost more than everything else in a request.
 */
abstract class ProtocolError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
  }
}

/**
 * A rule that both ends rely on is broken: the connection ends with GOAWAY (RFC 9113 section 5.4.1).
 *
 * The message is for logs and for GOAWAY's debug data. It contains no bytes from the peer.
 */
export class ConnectionError extends ProtocolError {
  override readonly name = "ConnectionError";
}

/** One stream ends with RST_STREAM, and the connection goes on (RFC 9113 section 5.4.2). */
export class StreamError extends ProtocolError {
  override readonly name = "StreamError";
  readonly streamId: number;

  constructor(streamId: number, code: ErrorCode, message: string) {
    super(code, message);
    this.streamId = streamId;
  }
}
