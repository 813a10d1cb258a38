import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { lengthOfTime } from "../../clock/length-of-time.ts";
import type { Application } from "../call/application.ts";
import { callerGone, readerStalled } from "../call/call-errors.ts";
import { type Dispatch, type DispatchRequest, refuseHead } from "../call/dispatch.ts";
import { encodeMessageField } from "../call/envelope/grpc-message.ts";
import type { CallCounter } from "./call-counter.ts";
import type { ConnectionOptions } from "./http2-server.ts";
import { headerBytesMax, pieceBytes, stallGraceMs } from "./node-limits.ts";
import { authorizationOf } from "./authorization-field.ts";
import { contextOf, peerOfRequest } from "./socket-peer.ts";
import { readRequestTarget, withoutAuthority } from "./request-target.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/**
 * One HTTP/1.1 request with its response, or one HTTP/2 stream, as node:http and node:http2 give it. The compatibility
 * API of node:http2 has the members that are used here, and `stream` beside them.
 */
interface NodeExchange {
  readonly request: IncomingMessage & { readonly authority?: string };
  readonly response: ServerResponse & { readonly stream?: ServerHttp2Stream };
  /** The request's body, if it was read before. */
  readonly body?: AsyncIterable<Uint8Array> | undefined;
}

/** The dispatch behind an exchange on node:http, and the limits of its calls. */
interface ExchangeOptions {
  /** Answers a request, whatever carries it. */
  readonly dispatch: Dispatch;
  /** How long a reader may read nothing before the call ends, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** The proxies that may name their callers; undefined = none: the caller is the other end of the connection. */
  readonly trustedProxies: TrustedProxies | undefined;
  /** Whether the server drains: an HTTP/1.1 connection is then closed after the response. */
  readonly isDraining: () => boolean;
}

/**
 * How much of an unread request body is let through, and for how long. HTTP/1.1 gets more, because there the connection
 * is cut, and with it the next request, which the caller may have sent on it after the response.
 */
const unreadBytesMax = { stream: 262_144, connection: 4_194_304 };
const unreadTimeoutMs = 5_000;

/** Serves an exchange of node:http or node:http2. */
export type ServeExchange = (
  request: NodeExchange["request"],
  response: NodeExchange["response"],
  /** The request's body, if it was read before. */
  body?: AsyncIterable<Uint8Array>,
) => void;

/** Serves exchanges through the dispatch, and counts those in flight. */
export function createExchangeServer(
  { dispatch }: Application,
  { stallTimeoutMs, trustedProxies, onFault }: ConnectionOptions,
  calls: CallCounter,
): ServeExchange {
  const exchangeOptions = { dispatch, stallTimeoutMs, trustedProxies, isDraining: () => calls.draining };
  return (request, response, body) => {
    calls.began();
    response.once("close", () => calls.ended());
    serveExchange({ request, response, body }, exchangeOptions).catch((error: unknown) => {
      onFault(error);
      request.socket.destroy();
    });
  };
}

/**
 * Answers one exchange through the dispatch. Written in place of connect-node's adapter, which has no limit on a
 * reader's time, resets HTTP/1.1 connections whose body is over the limit, and prints each cancelled stream on the
 * console. docs/adr/0021 has all the reasons.
 *
 * @returns When the response has been handed to the system, or the reader has gone. Rejects only for a fault of ours.
 */
async function serveExchange(exchange: NodeExchange, options: ExchangeOptions): Promise<void> {
  const { request, response } = exchange;
  const gone = new AbortController();
  const abort = new AbortController();
  response.once("close", () => {
    gone.abort();
    abort.abort(callerGone());
  });
  // Errors of the connection come with a close, and the close is handled.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  if (options.isDraining() && response.stream === undefined) response.setHeader("connection", "close");
  let universalRequest: DispatchRequest;
  try {
    universalRequest = toUniversalRequest(exchange, options, abort.signal);
  } catch {
    response.writeHead(400).end();
    return;
  }
  const { method, headers, rawHeaders } = request;
  const answer =
    headerBytes(rawHeaders) > headerBytesMax
      ? refuseHead(method, headers["content-type"])
      : await options.dispatch(universalRequest);
  const { stallTimeoutMs } = options;
  await new ResponseWriter({ response, answer, stallTimeoutMs, gone: gone.signal, abort }).write();
  dropUnread(exchange);
}

function headerBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, part) => sum + part.length, 0);
}

function toUniversalRequest(
  { request, body }: NodeExchange,
  options: ExchangeOptions,
  signal: AbortSignal,
): DispatchRequest {
  const header = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) header.append(name, one);
  }
  const authorization = authorizationOf(request);
  if (authorization !== undefined) header.set("authorization", authorization);
  const path = request.httpVersion === "2.0" ? request.url! : withoutAuthority(request.url!);
  const target = readRequestTarget(request.authority ?? request.headers.host ?? "", path);
  if (target === undefined) throw new TypeError("the request's authority is malformed");
  return {
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    ...target,
    header,
    body: body ?? readBody(request, options.stallTimeoutMs),
    signal,
    contextValues: contextOf(peerOfRequest(request, options.trustedProxies)),
  };
}

async function* readBody(request: IncomingMessage, stallTimeoutMs: number): AsyncGenerator<Uint8Array> {
  // Kept open when the handler stops reading: a body over the limit must not cut off its own response.
  const chunks: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const chunk = await nextInTime(chunks, stallTimeoutMs);
      if (chunk.done === true) return;
      yield chunk.value;
    }
  } finally {
    // Otherwise it would go on listening, and the rest of the body could never be let through. It waits for its last
    // chunk, if necessary.
    void chunks.return?.();
  }
}

async function nextInTime<T>(chunks: AsyncIterator<T>, stallTimeoutMs: number): Promise<IteratorResult<T>> {
  const stalled = Promise.withResolvers<never>();
  const message = `the request did not arrive within ${lengthOfTime(stallTimeoutMs)}`;
  const timer = setTimeout(() => stalled.reject(new ConnectError(message, Code.DeadlineExceeded)), stallTimeoutMs);
  try {
    return await Promise.race([chunks.next(), stalled.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Lets through what the handler left unread of the request, now that the response is on its way: a bounded part, for a
 * bounded time. If the request were cut off at once, many clients would report the cut and not the response.
 */
function dropUnread({ request, response }: NodeExchange): void {
  if (request.readableEnded || request.destroyed) return;
  const { stream } = response;
  const cut = (): void => {
    if (stream === undefined) request.socket.destroy();
    else stream.close(constants.NGHTTP2_NO_ERROR);
  };
  let unreadBytes = 0;
  request.on("data", (chunk: Buffer) => {
    unreadBytes += chunk.length;
    if (unreadBytes > unreadBytesMax[stream === undefined ? "connection" : "stream"]) cut();
  });
  const timer = setTimeout(cut, unreadTimeoutMs);
  request.once("close", () => clearTimeout(timer));
}

/** One answer, where it is written, and when that ends. */
interface WriterOptions {
  /** Takes the bytes. */
  readonly response: NodeExchange["response"];
  /** Gives the head, the body piece by piece, and the trailers. */
  readonly answer: UniversalServerResponse;
  /** How long the reader may read nothing, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Aborted when the response is closed, finished or not. */
  readonly gone: AbortSignal;
  /** Tells the handler to end. */
  readonly abort: AbortController;
}

/** Writes one response as fast as its reader takes it: one piece on its way, one in hand. */
class ResponseWriter {
  readonly #response: NodeExchange["response"];
  readonly #answer: UniversalServerResponse;
  readonly #stallTimeoutMs: number;
  readonly #gone: AbortSignal;
  readonly #abort: AbortController;
  #pending: Promise<void> = Promise.resolve();
  #stalled = false;

  constructor({ response, answer, stallTimeoutMs, gone, abort }: WriterOptions) {
    this.#response = response;
    this.#answer = answer;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#gone = gone;
    this.#abort = abort;
  }

  async write(): Promise<void> {
    const chunks = this.#answer.body?.[Symbol.asyncIterator]();
    try {
      // The first chunk comes before the headers: until then a handler may still set some.
      let chunk = await chunks?.next();
      if (this.#gone.aborted) return;
      const trailer = this.#answer.trailer;
      if (chunk === undefined && trailer === undefined) return this.#writeHeadAlone();
      this.#response.writeHead(this.#answer.status, toNodeHeaders(this.#answer.header));
      for (; chunk !== undefined && chunk.done !== true; chunk = await chunks?.next()) {
        await this.#writeChunk(chunk.value);
        if (this.#gone.aborted) return;
      }
      if (trailer !== undefined) this.#response.addTrailers(toNodeHeaders(encodeMessageField(trailer)));
      this.#response.end();
      await this.#finished();
    } finally {
      // Ends the handler of a reader that has gone; after the last chunk it does nothing.
      await chunks?.return?.();
    }
  }

  #writeHeadAlone(): void {
    const headers = toNodeHeaders(this.#answer.header);
    const { stream } = this.#response;
    // gRPC clients require a status without messages in one HEADERS frame that ends the stream, which end() alone does
    // not send.
    if (stream !== undefined && headers["grpc-status"] !== undefined) {
      stream.respond({ ":status": this.#answer.status, ...headers }, { endStream: true });
    } else this.#response.writeHead(this.#answer.status, headers).end();
  }

  async #writeChunk(chunk: Uint8Array): Promise<void> {
    for (let offset = 0; offset < chunk.length; offset += pieceBytes) {
      await this.#untilTaken();
      if (this.#gone.aborted) return;
      this.#pending = this.#writePiece(chunk.subarray(offset, offset + pieceBytes));
    }
  }

  #writePiece(piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      // A write error comes with a close.
      this.#response.write(piece, () => resolve());
    });
  }

  /**
   * Waits until the previous piece has left, the reader has gone, or the reader has stalled: then the handler is told
   * to end, and nothing waits any more.
   */
  async #untilTaken(): Promise<void> {
    if (this.#stalled) return;
    if ((await this.#raceStall(this.#pending)) === "stalled") {
      this.#stalled = true;
      this.#abort.abort(readerStalled(this.#stallTimeoutMs));
    }
  }

  async #finished(): Promise<void> {
    const outcome = this.#stalled ? "stalled" : await this.#raceStall(this.#pending);
    if (outcome === "stalled") setTimeout(() => this.#reset(), stallGraceMs).unref();
  }

  #reset(): void {
    if (this.#gone.aborted) return;
    const { stream } = this.#response;
    if (stream === undefined) this.#response.destroy();
    // gRPC clients report it as UNAVAILABLE (grpc/grpc doc/PROTOCOL-HTTP2.md), the code of STREAM_STALLED.
    else stream.close(constants.NGHTTP2_REFUSED_STREAM);
  }

  async #raceStall(taken: Promise<void>): Promise<"taken" | "gone" | "stalled"> {
    const { promise, resolve } = Promise.withResolvers<"gone" | "stalled">();
    const onGone = () => resolve("gone");
    const timer = setTimeout(() => resolve("stalled"), this.#stallTimeoutMs);
    this.#gone.addEventListener("abort", onGone, { once: true });
    try {
      return await Promise.race([taken.then(() => "taken" as const), promise]);
    } finally {
      clearTimeout(timer);
      this.#gone.removeEventListener("abort", onGone);
    }
  }
}

function toNodeHeaders(headers: Headers | undefined): Record<string, string> {
  return headers === undefined ? {} : Object.fromEntries(headers);
}
