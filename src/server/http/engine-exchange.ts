import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { systemClock } from "../../clock/clock.ts";
import { errorCode } from "../../http2/error-code.ts";
import { encodeFields } from "../../http2/hpack/encoder.ts";
import type { RequestHead } from "../../http2/request-head.ts";
import type { ServerStream, StreamHandler } from "../../http2/stream.ts";
import type { FairQueue } from "./fair-queue.ts";
import { callerGone, readerStalled } from "../call/call-errors.ts";
import { type Dispatch, type DispatchRequest, refuseHead } from "../call/dispatch.ts";
import { GatheredBytes } from "../call/gathered-bytes.ts";
import { encodeMessageField } from "../call/envelope/grpc-message.ts";
import { contextOf, ownerOf, peerOf } from "./socket-peer.ts";
import { readRequestTarget, type RequestTarget } from "./request-target.ts";

/** The dispatch behind an exchange on the HTTP/2 engine, and the limits of its calls. */
export interface EngineExchangeOptions {
  /** Answers a request, whatever carries it. */
  readonly dispatch: Dispatch;
  /** How long a reader may take nothing of its answer before the call ends, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** The fair queue in which expensive calls wait for their turns. */
  readonly expensiveCalls: FairQueue;
  /** Called with a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

const badRequest = encodeFields([[":status", "400"]]);
const goOn = encodeFields([[":status", "100"]]);

/**
 * Answers one stream of the HTTP/2 engine through the dispatch: what node-exchange.ts is for node:http and node:http2.
 * Such a call takes as long as a hundred hot calls, so it waits for its turn in the fair queue, and again where it has
 * to wait for its body. A call that is cancelled before its turn is never begun.
 */
export function serveStream(stream: ServerStream, options: EngineExchangeOptions): StreamHandler {
  const target = readRequestTarget(stream.head.authority, stream.head.path);
  if (target === undefined) {
    stream.respond(badRequest, "end");
    return {};
  }
  if (stream.head.get("expect") === "100-continue") stream.inform(goOn);
  const exchange = new EngineExchange(stream, options);
  options.expensiveCalls.add(ownerOf(stream), () => exchange.begin(target));
  return exchange;
}

/** Answers a request whose header fields are too many or too large. */
export function refuseStream(stream: ServerStream): StreamHandler {
  const { status, header } = refuseHead(stream.head.method, stream.head.get("content-type"));
  stream.respond(encodeFields([[":status", String(status)], ...(header ?? [])]), "end");
  return {};
}

class EngineExchange implements StreamHandler {
  readonly #stream: ServerStream;
  readonly #options: EngineExchangeOptions;
  readonly #body: StreamBody;
  readonly #abort = new AbortController();
  #hasBegun = false;
  #isStalled = false;
  #onWritable: (() => void) | undefined;

  constructor(stream: ServerStream, options: EngineExchangeOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#body = new StreamBody(stream, options.expensiveCalls);
  }

  onData(_stream: ServerStream, bytes: Buffer, start: number, end: number): void {
    this.#body.push(bytes, start, end);
  }

  onEnd(): void {
    this.#body.end(undefined);
  }

  onWritable(): void {
    this.#onWritable?.();
  }

  onStall(): void {
    this.#isStalled = true;
    this.#abort.abort(readerStalled(this.#options.stallTimeoutMs));
    this.#onWritable?.();
  }

  onAbort(): void {
    if (!this.#hasBegun) {
      this.#body.drop();
      return;
    }
    const error = callerGone();
    this.#body.end(error);
    this.#abort.abort(error);
    this.#onWritable?.();
  }

  /** Returns false where the caller no longer waits for the answer. */
  begin(target: RequestTarget): boolean {
    if (this.#stream.isClosed) return false;
    this.#hasBegun = true;
    void this.#run(target);
    return true;
  }

  /** Never rejects. */
  async #run(target: RequestTarget): Promise<void> {
    const { head } = this.#stream;
    const request: DispatchRequest = {
      httpVersion: "2.0",
      method: head.method,
      ...target,
      header: toHeaders(head),
      body: this.#body,
      signal: this.#abort.signal,
      contextValues: contextOf(peerOf(this.#stream)),
    };
    try {
      await this.#write(await this.#options.dispatch(request));
    } catch (error) {
      this.#options.onFault(error);
      this.#stream.reset(errorCode.internalError);
    }
  }

  async #write({ status, header, body, trailer }: UniversalServerResponse): Promise<void> {
    const stream = this.#stream;
    const chunks = body?.[Symbol.asyncIterator]();
    try {
      // The first chunk comes before the head: until then a handler may still set some of it.
      let chunk = await chunks?.next();
      const isHeadAlone = chunk === undefined && trailer === undefined;
      // RFC 9110 section 6.6.1.
      const date = ["date", new Date(systemClock.nowMs()).toUTCString()] as const;
      stream.respond(
        encodeFields([[":status", String(status)], date, ...(header ?? [])]),
        isHeadAlone ? "end" : "body",
      );
      if (isHeadAlone) return;
      for (; chunk !== undefined && chunk.done !== true; chunk = await chunks?.next()) {
        if (!stream.write(chunk.value)) await this.#untilWritable();
        if (stream.isClosed) return;
      }
      const trailers = trailer === undefined ? [] : [...encodeMessageField(trailer)];
      stream.end(trailers.length === 0 ? undefined : encodeFields(trailers));
    } finally {
      // Ends the handler of a reader that has gone; after the last chunk it does nothing.
      await chunks?.return?.();
    }
  }

  /** Waits until the written bytes have left, or never will; in that case the handler has been told to end. */
  async #untilWritable(): Promise<void> {
    if (this.#isStalled || this.#stream.isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onWritable = resolve;
    await promise;
    this.#onWritable = undefined;
  }
}

/** Crumbs of a cookie are joined by the engine; fields that come several times stay apart. */
function toHeaders(head: RequestHead): Headers {
  const headers = new Headers();
  for (const { name, value } of head.fields) {
    if (name !== "cookie") headers.append(name, value);
  }
  const cookie = head.get("cookie");
  if (cookie !== undefined) headers.set("cookie", cookie);
  return headers;
}

/** A request's body. The client may send more as it is read, not before. */
class StreamBody implements AsyncIterable<Uint8Array> {
  readonly #stream: ServerStream;
  readonly #expensiveCalls: FairQueue;
  readonly #gathered = new GatheredBytes();
  #isOver = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: ServerStream, expensiveCalls: FairQueue) {
    this.#stream = stream;
    this.#expensiveCalls = expensiveCalls;
  }

  push(bytes: Buffer, start: number, end: number): void {
    this.#gathered.append(bytes, start, end);
    this.#wakeReader();
  }

  end(error: Error | undefined): void {
    this.#isOver = true;
    this.#error ??= error;
    this.#wakeReader();
  }

  /** Drops the body, because no handler will read it. */
  drop(): void {
    this.#gathered.take();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    if (wake === undefined) return;
    this.#wake = undefined;
    this.#expensiveCalls.add(ownerOf(this.#stream), () => {
      wake();
      return true;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#gathered.take();
      if (chunk.length > 0) {
        this.#stream.consume(chunk.length);
        yield chunk;
      } else if (this.#error !== undefined) {
        throw this.#error;
      } else if (this.#isOver) {
        return;
      } else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    }
  }
}
