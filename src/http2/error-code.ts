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
  enhanceYourCalm: 11,
} as const;

/** Any code of RFC 9113 section 7; what a peer sends may be one that we do not know. */
export type ErrorCode = number;

/**
 * A rule that the peer broke. It has no stack: it tells of the peer and not of this program, and peers make hundreds a
 * moment, when taking one costs more than all the rest of a request.
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
 * The message is for logs and for GOAWAY's debug data. It holds no bytes of the peer's.
 */
export class ConnectionError extends ProtocolError {
  override readonly name = "ConnectionError";
  /** Whether honest clients do the same under load, and so are not to be held responsible. */
  readonly isExcusable: boolean;

  constructor(code: ErrorCode, message: string, isExcusable = false) {
    super(code, message);
    this.isExcusable = isExcusable;
  }
}

/** One stream ends with RST_STREAM, the connection goes on (RFC 9113 section 5.4.2). */
export class StreamError extends ProtocolError {
  override readonly name = "StreamError";
  readonly streamId: number;

  constructor(streamId: number, code: ErrorCode, message: string) {
    super(code, message);
    this.streamId = streamId;
  }
}
