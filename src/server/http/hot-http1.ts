import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { systemClock } from "../../clock/clock.ts";
import type { Application } from "../call/application.ts";
import type { CallHandler, CallStream } from "../call/call-stream.ts";
import type { Fields } from "../call/envelope/envelope.ts";
import { GatheredBytes } from "../call/gathered-bytes.ts";
import { bodyBytesMax, HotCalls } from "../call/hot-calls.ts";
import { type CallHead, envelopesOf, pathOf } from "../call/hot-route.ts";
import type { CallCounter } from "./call-counter.ts";
import type { ConnectionOptions } from "./http2-server.ts";
import type { ServeExchange } from "./node-exchange.ts";
import { readRequestTarget } from "./request-target.ts";
import { SocketPeer } from "./socket-peer.ts";

/** A response's head as node:http takes it. */
interface Http1Head {
  readonly status: number;
  /** Names and values in turn. */
  readonly fields: string[];
}

/** Serves a request of HTTP/1.1. */
export type ServeHttp1 = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves plain unary calls of the hot methods over HTTP/1.1 on bytes, and hands every other request to `others`. Most
 * of the time of such a call is node:http's own. docs/adr/0120 says what is hot.
 */
export function createHotHttp1(
  { hotMethods, crossOrigin, guard, toError, shutdownSignal }: Application,
  { stallTimeoutMs }: ConnectionOptions,
  calls: CallCounter,
  others: ServeExchange,
): ServeHttp1 {
  // A stream needs limits on its reader's time, which the general way has.
  const methods = hotMethods.filter(({ descriptor }) => descriptor.methodKind === "unary");
  const paths = new Set(methods.map(pathOf));
  const hot = new HotCalls<Http1Head, Http1Call>({
    methods,
    envelopes: envelopesOf["HTTP/1.1"],
    crossOrigin,
    encode: encodeHead,
    dateClock: undefined,
    others: (call) => call.handOn(others),
    clock: systemClock,
    stallTimeoutMs,
    guard,
    peerOf: (call) => call.peer,
    toError,
  });
  shutdownSignal.addEventListener("abort", () => hot.endAll(shutdownSignal.reason as ConnectError));
  return (request, response) => {
    if (!paths.has(request.url!) || !hasSmallBody(request) || !hasSoundHost(request)) others(request, response);
    else new Http1Call(request, response, calls).begin(hot);
  };
}

function encodeHead(fields: Fields): Http1Head {
  const [[, status] = ["", "200"], ...rest] = fields;
  return { status: Number(status), fields: rest.flat() };
}

/** A body of unknown length is read on the general way, as it comes. */
function hasSmallBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] === undefined && (length === undefined || Number(length) <= bodyBytesMax);
}

let lastSoundHost = "";

/** Whether the general way would serve it, and not answer 400. Most requests name the host of the request before. */
function hasSoundHost({ headers: { host = "" }, url }: IncomingMessage): boolean {
  if (host === lastSoundHost) return true;
  if (readRequestTarget(host, url!) === undefined) return false;
  lastSoundHost = host;
  return true;
}

/** One request with its response. */
class Http1Call implements CallStream<Http1Head> {
  readonly head: CallStream<Http1Head>["head"];
  readonly openedMs = systemClock.monotonicMs();
  handler: CallHandler<CallStream<Http1Head>> = {};
  isClosed = false;
  hasEnded = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #calls: CallCounter;
  readonly #body = new GatheredBytes();
  #isHandedOn = false;
  #responseHead: Http1Head | undefined;
  #written: Uint8Array[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, calls: CallCounter) {
    this.#request = request;
    this.#response = response;
    this.#calls = calls;
    this.head = new Http1RequestHead(request);
  }

  begin(hot: HotCalls<Http1Head, Http1Call>): void {
    this.handler = hot.onRequest(this);
    if (this.#isHandedOn) return;
    const request = this.#request;
    this.#calls.began();
    request.on("data", (chunk: Buffer) => this.#body.append(chunk, 0, chunk.length));
    request.on("end", () => this.#onEnd());
    // Errors of the connection come with a close.
    request.on("error", () => undefined);
    this.#response.on("error", () => undefined);
    this.#response.once("close", () => {
      this.#calls.ended();
      if (!this.isClosed) this.#abort();
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

  get peer(): SocketPeer {
    return new SocketPeer(this.#request.socket);
  }

  get hasResponded(): boolean {
    return this.isClosed || this.#responseHead !== undefined;
  }

  respond(block: Http1Head): void {
    this.#responseHead = block;
  }

  write(bytes: Uint8Array): boolean {
    this.#written.push(bytes);
    return true;
  }

  writeLent(bytes: Uint8Array): boolean {
    // A copy: a Buffer's slice() would be a view.
    return this.write(new Uint8Array(bytes));
  }

  /** Sends the whole response in one piece. */
  end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { status, fields } = this.#responseHead!;
    if (this.#calls.draining) this.#response.setHeader("connection", "close");
    this.#response.writeHead(status, fields);
    this.#response.end(this.#written.length === 1 ? this.#written[0] : Buffer.concat(this.#written));
  }

  reset(): void {
    this.#request.socket.destroy();
  }

  #onEnd(): void {
    this.hasEnded = true;
    const { bytes } = this.#body;
    if (bytes.length > 0) this.handler.onData?.(this, bytes, 0, bytes.length);
    this.handler.onEnd?.(this, []);
  }

  #abort(): void {
    this.isClosed = true;
    this.handler.onAbort?.(this, 0);
  }
}

/** A request's head as the hot calls read it. */
class Http1RequestHead implements CallHead {
  readonly method: string;
  readonly path: string;
  readonly fields: CallHead["fields"];
  note: unknown = undefined;
  readonly #headers: IncomingMessage["headers"];

  constructor({ method = "", url = "", headers }: IncomingMessage) {
    this.method = method;
    this.path = url;
    this.#headers = headers;
    this.fields = Object.keys(headers).map((name) => ({ name, value: this.get(name)! }));
  }

  get(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }
}
