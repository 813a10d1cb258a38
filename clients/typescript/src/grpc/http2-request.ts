import type { ErrorCode } from "../../../../src/http2/error-code.ts";
import { windowBytesInitial } from "../../../../src/http2/frame.ts";
import type { Field } from "../../../../src/http2/hpack/field.ts";
import { ReceiveWindow } from "../../../../src/http2/receive-window.ts";

/** One request, and what takes its answer. The methods are called inside of calls of the connection's methods. */
export interface Http2Request {
  /** A block of `encodeFields`. */
  readonly head: Buffer;
  /** At least one byte. */
  readonly body: Buffer;
  /** Takes the head of the answer, with `:status` as its first field, and later the trailers. */
  onFields(fields: readonly Field[], isLast: boolean): void;
  /** Takes bytes of the body, from `start` to `end`, exclusive. They may be overwritten after the call. */
  onData(bytes: Buffer, start: number, end: number, isLast: boolean): void;
  /** The server, or an error of the server's, has ended this request alone. */
  onReset(code: ErrorCode): void;
  /** The server has not begun with the request: it may be sent again. */
  onUnprocessed(cause: Error): void;
  /** The connection is gone. Whether the server has carried out the request is not known. */
  onLost(cause: Error): void;
}

/** A request on its way. */
export class ClientStream {
  readonly request: Http2Request;
  readonly receiveWindow = new ReceiveWindow(windowBytesInitial);
  /** 0 while it waits for another request to end. */
  id = 0;
  sendWindowBytes = 0;
  sentBytes = 0;
  hasHead = false;

  constructor(request: Http2Request) {
    this.request = request;
  }
}
