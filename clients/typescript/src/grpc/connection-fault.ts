/**
 * Why a connection cannot be used, found by reading the bytes that came. Its code is read like those of Node's errors.
 */
export class ConnectionFault extends Error {
  override readonly name = "ConnectionFault";
  readonly code: "NOT_GRPC" | "CLOSED_FIRST";

  constructor(code: "NOT_GRPC" | "CLOSED_FIRST", message: string) {
    super(message);
    this.code = code;
  }
}
