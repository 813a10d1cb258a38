import { Code, ConnectError } from "@connectrpc/connect";
import type { ErrorCode } from "../../../../src/http2/error-code.ts";
import type { Field } from "../../../../src/http2/hpack/field.ts";
import type { ClientSocket } from "./client-socket.ts";
import { errorOfHead, errorOfReset, errorOfTrailers, valueOf } from "./grpc-status.ts";
import type { ChannelCall } from "./grpc-channel.ts";
import { DarkConnection, isLimit } from "./dark-connection.ts";
import type { ClientStream } from "./http2-request.ts";
import { MessageReader } from "./message-reader.ts";

/** The request of a call, how its answer is read, and when it ends. */
export interface GrpcCallOptions<Message> {
  /** The header block of the request, encoded for HTTP/2. */
  readonly head: Buffer;
  /** The message of the request, with its prefix of five bytes. */
  readonly body: Buffer;
  /** Reads a message of the answer; throws if it is broken. */
  readonly parse: (bytes: Uint8Array) => Message;
  /** How many messages the answer may have. */
  readonly messageCountMax: number;
  /** In milliseconds from now; undefined if the call may take any time. */
  readonly timeoutMs: number | undefined;
  /** Aborted to cancel the call; undefined: the call cannot be cancelled. */
  readonly signal: AbortSignal | undefined;
  /** Sends the call; called again where a server did not begin with it. */
  readonly send: (call: ChannelCall) => void;
  /** Called when it runs out of time; returns whether its connection was dark, so that the next call takes another. */
  readonly onLimit: (socket: ClientSocket) => boolean;
}

/** How a call has ended. */
type Outcome = { readonly kind: "success" } | { readonly kind: "failure"; readonly error: ConnectError };

/** One gRPC call: a request of one message, and the messages and the status of its answer. */
export class GrpcCall<Message> implements ChannelCall {
  readonly head: Buffer;
  readonly body: Buffer;
  readonly #options: GrpcCallOptions<Message>;
  readonly #reader = new MessageReader((bytes) => this.#onMessage(bytes));
  readonly #messages: Message[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  #link: { readonly socket: ClientSocket; readonly stream: ClientStream } | undefined;
  #outcome: Outcome | undefined;
  #headFields: readonly Field[] | undefined;
  #trailers: readonly Field[] = [];
  /** Bytes that came and were not given back to the window, because the reader has not read them yet. */
  #heldBytes = 0;
  #isSecond = false;
  #wake: (() => void) | undefined;
  readonly #onAbort = (): void => {
    const reason: unknown = this.#options.signal?.reason;
    const cause = (isLimit(reason) ? this.#darkness() : undefined) ?? reason;
    this.#endEarly(new ConnectError("the call was cancelled", Code.Canceled, undefined, undefined, cause));
  };

  /** Sends the call. */
  constructor(options: GrpcCallOptions<Message>) {
    const { head, body, timeoutMs, signal } = options;
    this.head = head;
    this.body = body;
    this.#options = options;
    if (signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    // After a pause of the process, an answer that lies in the socket is read before it is late.
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => setImmediate(() => this.#onLate()), timeoutMs);
    this.#send();
  }

  /** The head of the answer; empty while there is none. */
  get headFields(): readonly Field[] {
    return this.#headFields ?? [];
  }

  /** The trailers of the answer; empty until it has ended. */
  get trailers(): readonly Field[] {
    return this.#trailers;
  }

  onSent(socket: ClientSocket, stream: ClientStream): void {
    this.#link = { socket, stream };
  }

  /** Waits for the head of the answer. @throws ConnectError. */
  async begun(): Promise<void> {
    while (this.#headFields === undefined && this.#outcome === undefined) await this.#change();
    if (this.#outcome?.kind === "failure" && this.#messages.length === 0) throw this.#outcome.error;
  }

  /** Waits for the next message; undefined after the last. @throws ConnectError. */
  async next(): Promise<Message | undefined> {
    for (;;) {
      if (this.#messages.length > 0) return this.#messages.shift();
      if (this.#outcome?.kind === "failure") throw this.#outcome.error;
      if (this.#outcome !== undefined) return undefined;
      await this.#change();
    }
  }

  /** Waits for the one message of an answer, and its end. @throws ConnectError. */
  async only(): Promise<Message> {
    while (this.#outcome === undefined) await this.#change();
    if (this.#outcome.kind === "failure") throw this.#outcome.error;
    const [message] = this.#messages;
    if (message === undefined) throw new ConnectError("protocol error: missing output message", Code.Unimplemented);
    return message;
  }

  /** Ends the call, if it has not ended. Messages that have come can still be read. */
  cancel(): void {
    this.#endEarly(new ConnectError("the call was cancelled", Code.Canceled));
  }

  onFields(fields: readonly Field[], isLast: boolean): void {
    const isHead = this.#headFields === undefined;
    if (isHead) this.#headFields = fields;
    const error = isHead && !(isLast && valueOf(fields, "grpc-status") !== undefined) ? errorOfHead(fields) : undefined;
    if (error !== undefined) this.#endEarly(error);
    else if (!isLast) this.#tell();
    else this.#onEnd(fields);
  }

  onData(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.#heldBytes += end - start;
    try {
      this.#reader.read(bytes, start, end);
    } catch (error) {
      this.#endEarly(ConnectError.from(error, Code.Internal));
    }
    if (isLast) this.#onEnd([]);
    else this.#tell();
  }

  onReset(code: ErrorCode): void {
    this.#end({ kind: "failure", error: errorOfReset(code) });
  }

  onUnprocessed(cause: Error): void {
    if (this.#isSecond) {
      this.onLost(cause);
      return;
    }
    this.#isSecond = true;
    this.#send();
  }

  onLost(cause: Error): void {
    const error = new ConnectError(cause.message, Code.Unavailable, undefined, undefined, cause);
    this.#end({ kind: "failure", error });
  }

  #send(): void {
    try {
      this.#options.send(this);
    } catch (error) {
      // For example, if a certificate is not valid.
      this.onLost(error as Error);
    }
  }

  #onMessage(bytes: Uint8Array): void {
    if (this.#messages.length >= this.#options.messageCountMax)
      throw new ConnectError("protocol error: received extra output message", Code.Unimplemented);
    try {
      this.#messages.push(this.#options.parse(bytes));
    } catch (error) {
      throw new ConnectError(`parse binary: ${(error as Error).message}`, Code.Internal);
    }
  }

  #onEnd(trailers: readonly Field[]): void {
    this.#trailers = trailers;
    const isCut = this.#reader.isMidMessage;
    const error =
      errorOfTrailers(trailers) ??
      (isCut ? new ConnectError("protocol error: a message is cut short", Code.Internal) : undefined);
    this.#end(error === undefined ? { kind: "success" } : { kind: "failure", error });
  }

  #onLate(): void {
    const cause = this.#darkness();
    this.#endEarly(new ConnectError("the operation timed out", Code.DeadlineExceeded, undefined, undefined, cause));
  }

  /** The cause for a call whose time is up if its connection is dark; undefined if it is not. */
  #darkness(): DarkConnection | undefined {
    if (this.#outcome !== undefined || this.#link === undefined) return undefined;
    return this.#options.onLimit(this.#link.socket) ? new DarkConnection() : undefined;
  }

  #endEarly(error: ConnectError): void {
    if (this.#outcome !== undefined) return;
    this.#link?.socket.cancel(this.#link.stream);
    this.#end({ kind: "failure", error });
  }

  #end(outcome: Outcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#tell();
  }

  #tell(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Waits for anything to happen. All that came has been read: the server may send as much again. */
  async #change(): Promise<void> {
    if (this.#heldBytes > 0) this.#link?.socket.consume(this.#link.stream, this.#heldBytes);
    this.#heldBytes = 0;
    this.#link?.socket.awaitAnswer();
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
