import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorCode } from "../http2/error-code.ts";
import { encodeFields } from "../http2/hpack-encoder.ts";
import type { RequestHead } from "../http2/request-head.ts";
import type { ServerStream, StreamHandler } from "../http2/stream.ts";
import type { DearQueue } from "./dear-queue.ts";
import type { Dispatch } from "./dispatch.ts";
import { spellMessage } from "./grpc-message.ts";
import { requestUrl } from "./request-url.ts";
import { stallError, stallGraceMs } from "./stall.ts";

/** What an exchange needs to know of its server. */
export interface EngineExchangeOptions {
  readonly dispatch: Dispatch;
  readonly stallTimeoutMs: number;
  /** Where calls wait for their turns. */
  readonly dear: DearQueue;
  /** Called with a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

const badRequest = encodeFields([[":status", "400"]]);
const goOn = encodeFields([[":status", "100"]]);

/**
 * Answers one stream of the HTTP/2 engine through the dispatch: what node-exchange.ts is for node:http and node:http2.
 * That takes as long as a hundred hot calls. So it waits for a turn of its own, and again where its body keeps it
 * waiting; a call that is cancelled before is never begun.
 */
export function serveStream(stream: ServerStream, options: EngineExchangeOptions): StreamHandler {
  const url = requestUrl(stream.head.authority, stream.head.path);
  if (url === undefined) {
    stream.respond(badRequest, "end");
    return {};
  }
  if (stream.head.get("expect") === "100-continue") stream.inform(goOn);
  const exchange = new EngineExchange(stream, options);
  options.dear.add(stream.connection, () => exchange.begin(url));
  return exchange;
}

class EngineExchange implements StreamHandler {
  readonly #stream: ServerStream;
  readonly #options: EngineExchangeOptions;
  readonly #body: StreamBody;
  readonly #abort = new AbortController();
  #hasBegun = false;
  #isStalled = false;
  #onWritable: (() => void) | undefined;
  /** Until a reader that stalled is cut off. */
  #cutting: NodeJS.Timeout | undefined;

  constructor(stream: ServerStream, options: EngineExchangeOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#body = new StreamBody(stream, options.dear);
  }

  onData(_stream: ServerStream, bytes: Buffer): void {
    this.#body.push(bytes);
  }

  onEnd(): void {
    this.#body.end(undefined);
  }

  onWritable(): void {
    this.#onWritable?.();
  }

  onStall(stream: ServerStream): void {
    this.#isStalled = true;
    this.#abort.abort(stallError(this.#options.stallTimeoutMs));
    this.#onWritable?.();
    // gRPC clients report this code as UNAVAILABLE (grpc/grpc doc/PROTOCOL-HTTP2.md), which is what STREAM_STALLED is.
    // Kept, for it holds the stream and what it had in hand: a caller that leaves first takes them along.
    this.#cutting = setTimeout(() => stream.reset(errorCode.refusedStream), stallGraceMs).unref();
  }

  onAbort(): void {
    if (!this.#hasBegun) {
      this.#body.drop();
      return;
    }
    clearTimeout(this.#cutting);
    const error = new ConnectError("the caller has gone", Code.Canceled);
    this.#body.end(error);
    this.#abort.abort(error);
    this.#onWritable?.();
  }

  /** Returns false where nobody waits for the answer any more. */
  begin(url: string): boolean {
    if (this.#stream.isClosed) return false;
    this.#hasBegun = true;
    void this.#run(url);
    return true;
  }

  /** Never rejects. */
  async #run(url: string): Promise<void> {
    const { head } = this.#stream;
    const request: UniversalServerRequest = {
      httpVersion: "2.0",
      method: head.method,
      url,
      header: toHeaders(head),
      body: this.#body,
      signal: this.#abort.signal,
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
      stream.respond(encodeFields([[":status", String(status)], ...(header ?? [])]), isHeadAlone ? "end" : "body");
      if (isHeadAlone) return;
      for (; chunk !== undefined && chunk.done !== true; chunk = await chunks?.next()) {
        if (!stream.write(chunk.value)) await this.#untilWritable();
        if (stream.isClosed) return;
      }
      const trailers = trailer === undefined ? [] : [...spellMessage(trailer)];
      stream.end(trailers.length === 0 ? undefined : encodeFields(trailers));
    } finally {
      // Ends the handler of a reader that has gone; after the last chunk it does nothing.
      await chunks?.return?.();
    }
  }

  /** Waits until what was written has left, or nothing will: then its handler has been told to end. */
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
  readonly #dear: DearQueue;
  readonly #chunks: Buffer[] = [];
  #isOver = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: ServerStream, dear: DearQueue) {
    this.#stream = stream;
    this.#dear = dear;
  }

  push(bytes: Buffer): void {
    // A copy: what the engine gives is only lent.
    this.#chunks.push(Buffer.from(bytes));
    this.#wakeReader();
  }

  end(error: Error | undefined): void {
    this.#isOver = true;
    this.#error ??= error;
    this.#wakeReader();
  }

  /** Nobody will read it. */
  drop(): void {
    this.#chunks.length = 0;
  }

  #wakeReader(): void {
    const wake = this.#wake;
    if (wake === undefined) return;
    this.#wake = undefined;
    this.#dear.add(this.#stream.connection, () => {
      wake();
      return true;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
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
