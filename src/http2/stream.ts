/** One request and its response: RFC 9113 sections 5.1 and 8.1. */
import { type ErrorCode, errorCode, StreamError } from "./error-code.ts";
import type { Field } from "./hpack/field.ts";
import { ReceiveWindow } from "./receive-window.ts";
import type { RequestHead } from "./request-head.ts";
import {
  afterRequestEnd,
  afterResponseEnd,
  afterResponseHead,
  type StreamState,
  streamStates,
} from "./stream-state.ts";

/**
 * Handles a request. The methods are called in the order in which they are listed here, inside calls of the
 * connection's methods. If one throws, its stream ends with INTERNAL_ERROR and the connection goes on.
 *
 * One object may handle many requests, if it keeps no state for each of them.
 */
export interface StreamHandler {
  /**
   * Takes bytes of the body: those of `bytes` from `start` to `end`, exclusive. The buffer is used again afterwards:
   * copy what is kept. Call `stream.consume` when the bytes are handled; otherwise the client stops sending after
   * {@link Limits.streamWindowBytes}. `stream.hasEnded` shows whether the request ends with these bytes; `onEnd`
   * follows if the stream is still open.
   */
  onData?(stream: ServerStream, bytes: Buffer, start: number, end: number): void;
  /** The request has ended. */
  onEnd?(stream: ServerStream, trailers: readonly Field[]): void;
  /** All bytes that were written have left the queue: more can be written. */
  onWritable?(stream: ServerStream): void;
  /**
   * Within {@link Limits.stallTimeoutMs}, the client has taken less than one frame of the bytes that wait. The handler
   * may end the response in its own way. The stream is reset when {@link Limits.stallGraceMs} more have passed without
   * progress; without this method it is reset at once.
   */
  onStall?(stream: ServerStream): void;
  /**
   * The stream was closed before the response was complete: by the client, by an error or by a limit. Nothing can be
   * sent any more.
   */
  onAbort?(stream: ServerStream, code: ErrorCode): void;
}

/**
 * The server's side of one stream, as handlers see it. Calls after the stream was closed do nothing, because the client
 * may close it at any moment. Calls in the wrong order throw.
 */
export type ServerStream = Pick<Stream, "handler"> &
  Readonly<
    Pick<
      Stream,
      | ("id" | "connection" | "head" | "openedMs" | "isClosed" | "hasEnded" | "hasResponded" | "queuedBytes")
      | ("consume" | "inform" | "respond" | "write" | "writeLent" | "end" | "dropQueued" | "reset")
    >
  >;

/** Whether bytes that cannot leave at once are kept as they are, or copied. */
export type KeptBytes = "same" | "copy";

/** The part of the connection that a stream calls. */
export interface StreamOwner {
  /** See {@link Stream.connection}. */
  readonly connection: object;
  sendHead(stream: Stream, block: Buffer, kind: "informational" | "response" | "last"): void;
  /** Frames the bytes that may be sent now and keeps the rest; returns whether nothing was kept. */
  sendData(stream: Stream, bytes: Uint8Array, keep: KeptBytes): boolean;
  /** Ends the response at once, with a trailer section if a block is given. */
  sendEnd(stream: Stream, trailers: Buffer | undefined): void;
  dropQueued(stream: Stream): void;
  /** Gives consumed bytes back to the windows of the stream and of the connection. */
  consume(stream: Stream, bytes: number): void;
  resetStream(stream: Stream, code: ErrorCode): void;
  /** Reports an error that a handler threw, and ends its stream with INTERNAL_ERROR. */
  onHandlerFault(stream: Stream, error: unknown): void;
}

const noHandler: StreamHandler = {};

/** A stream as its connection sees it. Handlers see a {@link ServerStream}. */
export class Stream {
  readonly id: number;
  readonly head: RequestHead;
  /** When the head was received, in the time of the connection's caller. */
  readonly openedMs: number;
  readonly receiveWindow: ReceiveWindow;
  /** May be replaced at any time. */
  handler: StreamHandler = noHandler;
  readonly #owner: StreamOwner;
  #state: StreamState = streamStates.open.awaited;
  /** Bytes of the body that were received, without padding. */
  bodyBytes = 0;

  // The fields below are kept by the scheduler.

  /** Bytes that may be sent: RFC 9113 section 6.9. Below zero after SETTINGS that lower it (section 6.9.2). */
  sendWindowBytes: number;
  queue: Uint8Array[] = [];
  /** Bytes that were written and wait for a window or for the socket. */
  queuedBytes = 0;
  /** When the response last made progress, or began to wait in the queue. */
  movedMs: number;
  /** Bytes that still have to leave the queue before it counts as progress. */
  owedBytes = 0;
  /** When the handler was called because nothing had moved since `movedMs`; undefined before that. */
  stallToldMs: number | undefined;

  constructor(
    owner: StreamOwner,
    id: number,
    head: RequestHead,
    windows: { readonly sendBytes: number; readonly receiveBytes: number },
    nowMs: number,
  ) {
    this.#owner = owner;
    this.id = id;
    this.head = head;
    this.sendWindowBytes = windows.sendBytes;
    this.receiveWindow = new ReceiveWindow(windows.receiveBytes);
    this.openedMs = nowMs;
    this.movedMs = nowMs;
  }

  /** Identifies the connection: the same object for all of its requests. The host may have given it. */
  get connection(): object {
    return this.#owner.connection;
  }

  /** Whether nothing can be sent any more. */
  get isClosed(): boolean {
    return this.#state.kind === "closed";
  }

  /** Whether nothing more of the request can come: it has come whole, or the stream is closed. */
  get hasEnded(): boolean {
    return this.#state.kind !== "open";
  }

  /** Whether the response's head was sent, or the stream is closed. */
  get hasResponded(): boolean {
    return this.#state.response !== "awaited";
  }

  /** Whether the request has not ended, and no response has begun. */
  get isAwaitingBody(): boolean {
    return this.#state === streamStates.open.awaited;
  }

  /**
   * Counts received bytes of the body, and notes the end of the request.
   *
   * @throws StreamError PROTOCOL_ERROR if the body does not have its content-length: section 8.1.1.
   */
  receiveBody(bytes: number, isLast: boolean): void {
    this.bodyBytes += bytes;
    const { contentLength = this.bodyBytes } = this.head;
    if (this.bodyBytes > contentLength || (isLast && this.bodyBytes < contentLength)) {
      throw new StreamError(this.id, errorCode.protocolError, "the body does not have its content-length");
    }
    if (isLast) this.#state = afterRequestEnd(this.#state);
  }

  /** Closes the stream: nothing can be sent or received any more. */
  close(): void {
    this.#state = streamStates.closed;
  }

  /** Reports that `length` bytes of the body are handled, so that the client may send as many more. */
  consume(length: number): void {
    if (this.isClosed) return;
    if (length > this.receiveWindow.heldBytes) throw new Error(`${length} bytes cannot be consumed`);
    this.#owner.consume(this, length);
  }

  /** Sends a head of status 100 to 199, before the response: a block of `encodeFields`. */
  inform(block: Buffer): void {
    if (this.isClosed) return;
    if (this.hasResponded) throw new Error("an informational head follows the response's");
    this.#owner.sendHead(this, block, "informational");
  }

  /**
   * Sends the response's head: a block of `encodeFields`. With "end" the response ends with it; otherwise a body or
   * trailers follow.
   */
  respond(block: Buffer, then: "body" | "end"): void {
    if (this.isClosed) return;
    if (this.hasResponded) throw new Error("a second response");
    this.#state = afterResponseHead(this.#state);
    this.#owner.sendHead(this, block, then === "end" ? "last" : "response");
  }

  /**
   * Sends bytes of the response's body, and returns whether all of them were framed. The others are kept, not copied,
   * and sent when windows and socket allow. `onWritable` is called when all were sent: wait for it before the next
   * write.
   */
  write(bytes: Uint8Array): boolean {
    return this.#write(bytes, "same");
  }

  /** As {@link Stream.write}, but copies the bytes that it must keep, so that `bytes` may be used again at once. */
  writeLent(bytes: Uint8Array): boolean {
    return this.#write(bytes, "copy");
  }

  #write(bytes: Uint8Array, keep: KeptBytes): boolean {
    if (this.isClosed) return false;
    if (this.#state.response !== "body") throw new Error("a write outside of the response's body");
    return this.#owner.sendData(this, bytes, keep);
  }

  /** Ends the response after all bytes that were written, with a trailer section if a block is given. */
  end(trailers?: Buffer): void {
    if (this.isClosed) return;
    if (this.#state.response !== "body") throw new Error("an end outside of a response");
    if (this.queuedBytes === 0) this.#owner.sendEnd(this, trailers);
    else this.#state = afterResponseEnd(this.#state, trailers);
  }

  /** Drops the bytes that wait, so that `end` ends the response at once. */
  dropQueued(): void {
    if (this.isClosed) return;
    this.#owner.dropQueued(this);
    this.#sendAwaitedEnd();
  }

  /** Ends the response if its end has waited for the queue, and returns whether it had. */
  #sendAwaitedEnd(): boolean {
    const state = this.#state;
    if (state.response !== "ending") return false;
    this.#owner.sendEnd(this, state.trailers);
    return true;
  }

  /** Resets the stream with RST_STREAM. */
  reset(code: ErrorCode): void {
    if (!this.isClosed) this.#owner.resetStream(this, code);
  }

  // Calls of the handler. Its errors must affect neither the other streams nor the process.

  /** Passes bytes of the body to the handler, from `start` to `end`, exclusive. */
  deliverData(bytes: Buffer, start: number, end: number): void {
    if (this.isClosed) return;
    try {
      this.handler.onData?.(this, bytes, start, end);
    } catch (error) {
      this.#owner.onHandlerFault(this, error);
    }
  }

  deliverEnd(trailers: readonly Field[]): void {
    if (this.isClosed) return;
    try {
      this.handler.onEnd?.(this, trailers);
    } catch (error) {
      this.#owner.onHandlerFault(this, error);
    }
  }

  /** Called when all queued bytes have left. */
  onQueueEmpty(): void {
    if (!this.#sendAwaitedEnd()) this.#notify(() => this.handler.onWritable?.(this));
  }

  notifyStall(nowMs: number): void {
    this.stallToldMs = nowMs;
    this.#notify(() => this.handler.onStall?.(this));
  }

  notifyAbort(code: ErrorCode): void {
    this.#notify(() => this.handler.onAbort?.(this, code));
  }

  #notify(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#owner.onHandlerFault(this, error);
    }
  }
}
