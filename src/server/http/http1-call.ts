import type { IncomingMessage, ServerResponse } from "node:http";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { systemClock } from "../../clock/clock.ts";
import type { CallHandler, CallStream } from "../call/call-stream.ts";
import { GatheredBytes } from "../call/gathered-bytes.ts";
import type { CallHead } from "../call/hot-route.ts";
import { authorizationOf } from "./authorization-field.ts";
import type { CallCounter } from "./call-counter.ts";
import type { ServeExchange } from "./node-exchange.ts";
import { pieceBytes, stallGraceMs } from "./node-limits.ts";
import type { Peer } from "../call/peer.ts";
import { peerOfRequest } from "./socket-peer.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** A response's head as node:http takes it. */
export interface Http1Head {
  readonly status: number;
  /** Names and values in turn. */
  readonly fields: string[];
}

/** The count of calls over HTTP/1.1, their time limit, and the proxies that may name their callers. */
export interface Http1CallOptions {
  /** Counts the calls that run, so that a drain can wait for them. */
  readonly calls: CallCounter;
  /** How long a reader may take nothing of its answer before the call ends, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** The proxies that may name their callers; undefined = none: the caller is the other end of the connection. */
  readonly trustedProxies: TrustedProxies | undefined;
  /** Called with a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

/** Copying more than this costs more than a second piece. */
const joinedBytesMax = 1_024;

/**
 * One request of HTTP/1.1 with its response, as the hot calls see it. Its reader sets the pace: a piece is on its way,
 * and at most one message more is in hand. The limits on the reader's time are those of node-exchange.ts.
 */
export class Http1Call implements CallStream<Http1Head> {
  readonly head: CallStream<Http1Head>["head"];
  readonly openedMs = systemClock.monotonicMs();
  handler: CallHandler<CallStream<Http1Head>> = {};
  /** Nothing can be written any more; what was written may still wait. */
  isClosed = false;
  hasEnded = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: Http1CallOptions;
  readonly #body = new GatheredBytes();
  #isHandedOn = false;
  #responseHead: Http1Head | undefined;
  #written: Uint8Array[] = [];
  #writtenBytes = 0;
  #isSendPlanned = false;
  /** A piece is on its way. */
  #isSending = false;
  /** The handler waits until all that was written has left. */
  #isAwaited = false;
  #stalling: NodeJS.Timeout | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, options: Http1CallOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
    this.head = new Http1RequestHead(request);
  }

  begin(onRequest: (call: Http1Call) => CallHandler<CallStream<Http1Head>>): void {
    this.handler = onRequest(this);
    if (this.#isHandedOn) return;
    const request = this.#request;
    const { calls } = this.#options;
    calls.began();
    request.on("data", (chunk: Buffer) => this.#body.keep(chunk));
    request.on("end", () => this.#onEnd());
    request.on("error", comesWithClose);
    this.#response.on("error", comesWithClose);
    this.#response.once("close", () => {
      clearTimeout(this.#stalling);
      calls.ended();
      if (this.isClosed) return;
      this.isClosed = true;
      this.#tell((handler) => handler.onAbort?.(this, 0));
    });
  }

  /** Gives the request to the general way: at once, or with the body that was read. */
  handOn(others: ServeExchange): CallHandler<Http1Call> {
    this.#isHandedOn = true;
    if (!this.hasEnded) {
      others(this.#request, this.#response);
      return {};
    }
    this.isClosed = true;
    return { onEnd: () => others(this.#request, this.#response, createAsyncIterable([this.#body.take()])) };
  }

  get peer(): Peer {
    return peerOfRequest(this.#request, this.#options.trustedProxies);
  }

  get hasResponded(): boolean {
    return this.isClosed || this.#responseHead !== undefined;
  }

  respond(block: Http1Head): void {
    this.#responseHead = block;
  }

  write(bytes: Uint8Array): boolean {
    // A copy: the bytes are lent, or in the only buffer of a stream. A Buffer's slice() would be a view.
    this.#written.push(new Uint8Array(bytes));
    this.#writtenBytes += bytes.length;
    this.#isAwaited = this.#writtenBytes >= pieceBytes;
    if (!this.#isSendPlanned) {
      this.#isSendPlanned = true;
      // Later in this turn, so that a short response leaves in one piece.
      process.nextTick(() => {
        this.#isSendPlanned = false;
        if (this.#writtenBytes > 0) this.#send();
      });
    }
    return !this.#isAwaited;
  }

  writeLent(bytes: Uint8Array): boolean {
    return this.write(bytes);
  }

  end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#send();
  }

  reset(): void {
    this.#request.socket.destroy();
  }

  #onEnd(): void {
    this.hasEnded = true;
    const { bytes } = this.#body;
    if (bytes.length > 0) this.#tell((handler) => handler.onData?.(this, bytes, 0, bytes.length));
    this.#tell((handler) => handler.onEnd?.(this, []));
  }

  /** Sends a piece of what was written, and the rest when that has left. */
  #send(): void {
    const response = this.#response;
    if (this.#isSending || response.destroyed) return;
    this.#isSending = true;
    this.#sendHead();
    const bytes = this.#written.length === 1 ? this.#written[0]! : Buffer.concat(this.#written);
    const piece = bytes.subarray(0, pieceBytes);
    this.#writtenBytes = bytes.length - piece.length;
    this.#written = this.#writtenBytes === 0 ? [] : [bytes.subarray(pieceBytes)];
    if (this.isClosed && this.#writtenBytes === 0) endWith(response, piece);
    else response.write(piece, (error) => this.#onSent(error));
    // The system may have taken all of it; a timer would cost as much as the rest of a call.
    if (response.writableLength > 0) {
      this.#stalling = setTimeout(() => this.#onStall(), this.#options.stallTimeoutMs);
    }
  }

  #sendHead(): void {
    if (this.#response.headersSent) return;
    const { status, fields } = this.#responseHead!;
    if (this.#options.calls.draining) this.#response.setHeader("connection", "close");
    this.#response.writeHead(status, fields);
  }

  /** An error comes with a close. */
  #onSent(error: Error | null | undefined): void {
    clearTimeout(this.#stalling);
    this.#isSending = false;
    if (error) return;
    if (this.#writtenBytes > 0 || this.isClosed) {
      this.#send();
    } else if (this.#isAwaited) {
      this.#isAwaited = false;
      this.#tell((handler) => handler.onWritable?.(this));
    }
  }

  /** Lets the call end with its error, and cuts the connection if its reader does not come back for that. */
  #onStall(): void {
    this.#stalling = setTimeout(() => this.#response.destroy(), stallGraceMs);
    this.#tell((handler) => handler.onStall?.(this));
  }

  /** What a handler throws must not reach the process. */
  #tell(call: (handler: CallHandler<CallStream<Http1Head>>) => void): void {
    try {
      call(this.handler);
    } catch (error) {
      this.#options.onFault(error);
      this.reset();
    }
  }
}

/** Errors of the connection come with a close. */
function comesWithClose(): void {}

/** Ends a response with its last bytes. node:http joins a short string with the head, and sends both in one piece. */
function endWith(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length > joinedBytesMax) response.end(bytes);
  else response.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), "latin1");
}

/** A request's head as the hot calls read it. */
class Http1RequestHead implements CallHead {
  readonly method: string;
  readonly path: string;
  readonly fields: CallHead["fields"];
  note: unknown = undefined;
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.method = request.method ?? "";
    this.path = request.url ?? "";
    const fields: { name: string; value: string }[] = [];
    for (const name in request.headers) fields.push({ name, value: this.get(name)! });
    this.fields = fields;
  }

  get(name: string): string | undefined {
    if (name === "authorization") return authorizationOf(this.#request);
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }
}
