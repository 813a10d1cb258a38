/** One request and its response: RFC 9113 sections 5.1 and 8.1. */
import type { ErrorCode } from "./error-code.ts";
import type { Field } from "./field.ts";
import type { RequestHead } from "./request-head.ts";

/**
 * What a server does with a request. Called in the order of its methods, inside {@link Connection.receive} and its
 * like; what a method throws ends the stream with INTERNAL_ERROR, and the connection goes on.
 *
 * One object may serve all requests that need no state of their own.
 */
export interface StreamHandler {
  /**
   * Takes bytes of the body. They are only lent: copy what is kept. Call `stream.consume` once they are dealt with, or
   * the client will stop sending.
   *
   * @param isLast - Whether the request ends with these bytes; `onEnd` follows if the stream is still open.
   */
  onData?(stream: ServerStream, bytes: Buffer, isLast: boolean): void;
  /** The request has ended. */
  onEnd?(stream: ServerStream, trailers: readonly Field[]): void;
  /** What was written has left the queue: write on. */
  onWritable?(stream: ServerStream): void;
  /**
   * The client has taken no byte for {@link Limits.stallTimeoutMs}. The handler may end the response in its own way;
   * whatever it does, the stream is reset when {@link Limits.stallGraceMs} more have passed without a byte. Without
   * this method it is reset at once.
   */
  onStall?(stream: ServerStream): void;
  /**
   * The stream was cut before the response was complete: by the client, by an error, by a limit. Nothing can be sent
   * any more.
   */
  onAbort?(stream: ServerStream, code: ErrorCode): void;
}

/**
 * The server's side of one stream. Calls that come after the stream was closed do nothing, for the client may close it
 * at any moment; calls in a wrong order throw.
 */
export interface ServerStream {
  readonly id: number;
  /** Stands for the connection: the same for all requests of one. */
  readonly connection: object;
  readonly head: RequestHead;
  /** May be replaced at any time. */
  handler: StreamHandler;
  /** Whether anything can still be sent. */
  readonly isClosed: boolean;
  /** Whether the whole request has come. */
  readonly hasEnded: boolean;
  readonly hasResponded: boolean;
  /** Bytes that were written and wait for a window or for the socket. */
  readonly queuedBytes: number;
  /** When the head came, in the time of the connection's caller. */
  readonly openedMs: number;
  /** Says that `length` bytes of the body are dealt with, so that the client may send as many more. */
  consume(length: number): void;
  /** Sends a head of status 100 to 199, before the response: a block of `encodeFields`. */
  inform(block: Buffer): void;
  /**
   * Sends the response's head: a block of `encodeFields`. With "end" the response ends with it, else a body or trailers
   * follow.
   */
  respond(block: Buffer, then: "body" | "end"): void;
  /**
   * Sends bytes of the response's body. Returns whether they were all framed; if not, they are kept (as they are, not
   * copied) and sent as the client lets us, and `onWritable` says when that is done. Wait for it before the next write.
   */
  write(bytes: Uint8Array): boolean;
  /** As {@link ServerStream.write}, but copies what it must keep: `bytes` may be used again at once. */
  writeLent(bytes: Uint8Array): boolean;
  /** Ends the response after all that was written, with a trailer section where a block is given. */
  end(trailers?: Buffer): void;
  /** Drops what waits, so that `end` ends the response at once. */
  dropQueued(): void;
  /** Cuts the stream. */
  reset(code: ErrorCode): void;
}

/** Whether bytes that cannot leave at once are kept as they are, or copied. */
export type KeptBytes = "same" | "copy";

/** What a stream asks of its connection. */
export interface StreamOwner {
  sendHead(stream: Stream, block: Buffer, kind: "informational" | "response" | "last"): void;
  /** Frames what may leave now and keeps the rest; returns whether nothing was kept. */
  sendData(stream: Stream, bytes: Uint8Array, keep: KeptBytes): boolean;
  sendEnd(stream: Stream): void;
  dropQueued(stream: Stream): void;
  credit(stream: Stream, bytes: number): void;
  resetStream(stream: Stream, code: ErrorCode): void;
}

const noHandler: StreamHandler = {};

/** A stream as its connection sees it. Handlers see a {@link ServerStream}. */
export class Stream implements ServerStream {
  readonly id: number;
  readonly head: RequestHead;
  handler: StreamHandler = noHandler;
  readonly #owner: StreamOwner;
  /** Bytes that we may send, and that the client may send: section 6.9. The first may be below zero. */
  sendWindowBytes: number;
  receiveWindowBytes: number;
  /** Bytes that came, without padding. */
  receivedBytes = 0;
  /** Bytes that came and are not consumed. */
  unconsumedBytes = 0;
  /** Bytes that were consumed and not yet given back by WINDOW_UPDATE. */
  creditBytes = 0;
  queue: Uint8Array[] = [];
  queuedBytes = 0;
  trailers: Buffer | undefined;
  /**
   * Half-closed by the client, and closed: section 5.1. We never half-close: a response that is complete closes the
   * stream.
   */
  hasEnded = false;
  isClosed = false;
  hasResponded = false;
  /** Whether the end of the response was asked for, though it may still wait behind what is queued. */
  isEnding = false;
  readonly openedMs: number;
  /** When bytes of the response last left the queue, or began to wait in it. */
  movedMs: number;
  /** When the handler was told that nothing has moved since. */
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
    this.receiveWindowBytes = windows.receiveBytes;
    this.openedMs = nowMs;
    this.movedMs = nowMs;
  }

  get connection(): object {
    return this.#owner;
  }

  consume(length: number): void {
    if (this.isClosed) return;
    if (length > this.unconsumedBytes) throw new Error(`${length} bytes cannot be consumed`);
    this.#owner.credit(this, length);
  }

  inform(block: Buffer): void {
    if (this.isClosed) return;
    if (this.hasResponded) throw new Error("an informational head follows the response's");
    this.#owner.sendHead(this, block, "informational");
  }

  respond(block: Buffer, then: "body" | "end"): void {
    if (this.isClosed) return;
    if (this.hasResponded) throw new Error("a second response");
    this.hasResponded = true;
    this.isEnding = then === "end";
    this.#owner.sendHead(this, block, then === "end" ? "last" : "response");
  }

  write(bytes: Uint8Array): boolean {
    return this.#write(bytes, "same");
  }

  writeLent(bytes: Uint8Array): boolean {
    return this.#write(bytes, "copy");
  }

  #write(bytes: Uint8Array, keep: KeptBytes): boolean {
    if (this.isClosed) return false;
    if (!this.hasResponded || this.isEnding) throw new Error("a write outside of the response's body");
    return this.#owner.sendData(this, bytes, keep);
  }

  end(trailers?: Buffer): void {
    if (this.isClosed) return;
    if (!this.hasResponded || this.isEnding) throw new Error("an end outside of a response");
    this.isEnding = true;
    this.trailers = trailers;
    if (this.queuedBytes === 0) this.#owner.sendEnd(this);
  }

  dropQueued(): void {
    if (!this.isClosed) this.#owner.dropQueued(this);
  }

  reset(code: ErrorCode): void {
    if (!this.isClosed) this.#owner.resetStream(this, code);
  }
}
