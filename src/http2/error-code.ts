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
 * The peer broke a rule that both ends rely on: the connection ends with GOAWAY (RFC 9113 section 5.4.1).
 *
 * The message is for logs and for GOAWAY's debug data. It holds no bytes of the peer's.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** One stream ends with RST_STREAM, the connection goes on (RFC 9113 section 5.4.2). */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly streamId: number;
  readonly code: ErrorCode;

  constructor(streamId: number, code: ErrorCode, message: string) {
    super(message);
    this.streamId = streamId;
    this.code = code;
  }
}
