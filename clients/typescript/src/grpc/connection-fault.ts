/** Why a connection is no use, found by reading what came. Its code is read as those of Node are. */
export class ConnectionFault extends Error {
  override readonly name = "ConnectionFault";
  readonly code: "NOT_GRPC" | "CLOSED_FIRST";

  constructor(code: "NOT_GRPC" | "CLOSED_FIRST", message: string) {
    super(message);
    this.code = code;
  }
}
