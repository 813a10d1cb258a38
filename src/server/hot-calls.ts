import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Clock } from "../clock.ts";
import { type HotAnswer, type HotContext, type HotMethod, type HotStream, prefixBytes } from "../hot-methods.ts";
import { errorCode } from "../http2/error-code.ts";
import type { Field } from "../http2/field.ts";
import { encodeFields } from "../http2/hpack-encoder.ts";
import type { ServerStream, StreamHandler } from "../http2/stream.ts";
import { beginCall, callerGone, type CallGuard, endCall, type GuardedCall, type ToCallError } from "./call-guard.ts";
import { spellMessage } from "./grpc-message.ts";
import { type HotRoute, readHotRoute } from "./hot-route.ts";
import { stallError, stallGraceMs } from "./stall.ts";

/** What serves the hot methods. */
export interface HotCallsOptions {
  readonly methods: readonly HotMethod[];
  /** Takes every other request, and calls of hot methods that are not plain. */
  readonly others: (stream: ServerStream) => StreamHandler;
  readonly clock: Clock;
  readonly stallTimeoutMs: number;
  /** Asked for every call that is answered here; the way of all others asks them itself. */
  readonly guards: readonly CallGuard[];
  /** Makes of what a method or a guard threw what its caller gets. */
  readonly toError: ToCallError;
}

/** The largest request that is looked at here. */
const bodyBytesMax = 4_096 + prefixBytes;
const noBody: Buffer = Buffer.alloc(0);
const noFields: HotContext["responseFields"] = [];
const okTrailers = encodeFields([["grpc-status", "0"]]);

/**
 * gRPC calls of the hot methods on streams of the HTTP/2 engine. What is waiting or streaming is known by name, so that
 * it can be ended.
 */
export class HotCalls {
  readonly options: HotCallsOptions;
  readonly #methods: ReadonlyMap<string, HotMethod>;
  readonly #running = new Set<HotCall>();

  constructor(options: HotCallsOptions) {
    this.options = options;
    this.#methods = new Map(options.methods.map((method) => [method.path, method]));
  }

  /** Gives the handler of a request. */
  onRequest(stream: ServerStream): StreamHandler {
    const { head } = stream;
    // Requests with the same header block share their head: it is read once.
    head.note ??= readHotRoute(head, this.#methods) ?? "other";
    return head.note === "other" ? this.options.others(stream) : new HotCall(this, stream, head.note as HotRoute);
  }

  /** Calls that wait or stream. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Ends every call that waits or streams. */
  endAll(reason: ConnectError): void {
    for (const call of this.#running) call.end(reason);
  }

  began(call: HotCall): void {
    this.#running.add(call);
  }

  ended(call: HotCall): void {
    this.#running.delete(call);
  }
}

/**
 * One call. In the common case its request comes in one piece, is answered in the same turn, and nothing else is ever
 * made for it.
 */
class HotCall implements StreamHandler, HotContext, GuardedCall {
  readonly #calls: HotCalls;
  readonly #stream: ServerStream;
  readonly #route: HotRoute;
  responseFields = noFields;
  responseTrailers = noFields;
  #body: Buffer = noBody;
  #hasBegun = false;
  #isGuarded = false;
  #isRunning = false;
  #isEnding = false;
  #messages: HotStream | undefined;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(calls: HotCalls, stream: ServerStream, route: HotRoute) {
    this.#calls = calls;
    this.#stream = stream;
    this.#route = route;
  }

  onData(_stream: ServerStream, bytes: Buffer, isLast: boolean): void {
    if (isLast && this.#body.length === 0) {
      this.#begin(bytes);
      return;
    }
    this.#body = Buffer.concat([this.#body, bytes]);
    if (this.#body.length > bodyBytesMax || announcedBytes(this.#body) > bodyBytesMax) this.#handOn();
    else if (isLast) this.#begin(this.#body);
  }

  onEnd(stream: ServerStream, trailers: readonly Field[]): void {
    if (this.#hasBegun) return;
    this.#begin(this.#body);
    // Handed on: the engine tells the handler that was, not the one that is.
    if (!this.#hasBegun) stream.handler.onEnd?.(stream, trailers);
  }

  onWritable(): void {
    this.#pump();
  }

  onStall(stream: ServerStream): void {
    this.end(stallError(this.#calls.options.stallTimeoutMs));
    // gRPC clients report this code as UNAVAILABLE (grpc/grpc doc/PROTOCOL-HTTP2.md), which is what STREAM_STALLED is.
    // Kept, for it holds the stream and what it had in hand: a caller that leaves first takes them along.
    this.#timer = setTimeout(() => stream.reset(errorCode.refusedStream), stallGraceMs).unref();
  }

  onAbort(): void {
    this.#abort?.abort(callerGone());
    this.#release(this.#isGuarded ? callerGone() : undefined);
  }

  get path(): string {
    return this.#route.method.path;
  }

  header(name: string): string | undefined {
    return this.#stream.head.get(name);
  }

  /** Made when somebody asks: calls that are answered at once have none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      const leftMs = this.timeoutMs();
      if (leftMs !== undefined) {
        this.#timer = setTimeout(() => this.end(deadlineError()), Math.max(0, leftMs));
      }
    }
    return this.#abort.signal;
  }

  timeoutMs(): number | undefined {
    const { timeoutMs } = this.#route;
    return timeoutMs === undefined
      ? undefined
      : timeoutMs - (this.#calls.options.clock.monotonicMs() - this.#stream.openedMs);
  }

  get requestFields(): readonly Field[] {
    return this.#stream.head.fields;
  }

  /** Ends the call with an error, if it has not ended. */
  end(error: ConnectError): void {
    this.#abort?.abort(error);
    this.#fail(error);
  }

  #begin(body: Buffer): void {
    const isPlain = body.length >= prefixBytes && body[0] === 0 && body.readUInt32BE(1) === body.length - prefixBytes;
    if (!isPlain) {
      this.#handOn(body);
      return;
    }
    const operation = this.#route.method.read(body.length === prefixBytes ? noBody : body.subarray(prefixBytes));
    if (operation === undefined) {
      this.#handOn(body);
      return;
    }
    this.#hasBegun = true;
    const { guards, toError } = this.#calls.options;
    let answer: HotAnswer;
    try {
      beginCall(guards, this, toError);
      this.#isGuarded = true;
      if (this.#route.timeoutMs !== undefined && this.timeoutMs()! <= 0) throw deadlineError();
      answer = operation(this);
    } catch (error) {
      this.#failWith(error);
      return;
    }
    if (answer instanceof Uint8Array) this.#answer(answer);
    else if (answer instanceof Promise) this.#await(answer, (message) => this.#answer(message));
    else this.#startStream(answer);
  }

  #handOn(body: Buffer = this.#body): void {
    const stream = this.#stream;
    stream.handler = this.#calls.options.others(stream);
    if (body.length > 0) stream.handler.onData?.(stream, body, stream.hasEnded);
  }

  #answer(message: Uint8Array): void {
    const stream = this.#stream;
    this.#isEnding = true;
    this.#respond();
    stream.writeLent(message);
    stream.end(this.#okTrailers());
    this.#release(undefined);
  }

  #await<Message>(answer: Promise<Message>, then: (message: Message) => void): void {
    this.#run();
    // The deadline holds whether or not the method looks at its signal.
    void this.signal;
    answer.then(
      (message) => {
        if (!this.#isEnding && !this.#stream.isClosed) then(message);
      },
      (error: unknown) => this.#failWith(error),
    );
  }

  #startStream(messages: HotStream): void {
    this.#messages = messages;
    this.#run();
    // The deadline holds also while the reader, not the method, keeps the stream waiting.
    void this.signal;
    this.#pump();
  }

  /** Sends messages until the reader or the source keeps us waiting. */
  #pump(): void {
    const stream = this.#stream;
    try {
      while (!stream.isClosed && !this.#isEnding) {
        const message = this.#messages?.next();
        if (message === undefined) {
          this.#finish();
          return;
        }
        if (message instanceof Promise) {
          this.#await(message, (message) => {
            if (message === undefined) this.#finish();
            else if (this.#send(message)) this.#pump();
          });
          return;
        }
        if (!this.#send(message)) return;
      }
    } catch (error) {
      this.#failWith(error);
    }
  }

  #send(message: Uint8Array): boolean {
    this.#respond();
    return this.#stream.write(message);
  }

  #finish(): void {
    this.#respond();
    this.#isEnding = true;
    this.#stream.end(this.#okTrailers());
    this.#release(undefined);
  }

  #respond(): void {
    const stream = this.#stream;
    if (stream.hasResponded) return;
    const fields = this.responseFields;
    stream.respond(fields.length === 0 ? this.#route.responseHead : this.#head(fields), "body");
  }

  #head(fields: HotContext["responseFields"]): Buffer {
    const type = ["content-type", this.#route.contentType] as const;
    return encodeFields([[":status", "200"], type, ["cache-control", "no-store"], ...fields]);
  }

  #okTrailers(): Buffer {
    const fields = this.responseTrailers;
    return fields.length === 0 ? okTrailers : encodeFields([["grpc-status", "0"], ...fields]);
  }

  #failWith(error: unknown): void {
    this.#fail(this.#calls.options.toError(error, this.path));
  }

  #fail(error: ConnectError): void {
    const stream = this.#stream;
    if (this.#isEnding || stream.isClosed) return;
    this.#isEnding = true;
    const trailers = [...this.responseTrailers, ...spellMessage(setTrailerStatus(new Headers(), error))];
    if (this.responseFields.length > 0) this.#respond();
    if (stream.hasResponded) stream.end(encodeFields(trailers));
    else stream.respond(this.#head(trailers), "end");
    this.#release(error);
  }

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#calls.began(this);
  }

  /** Lets go of all that the call held, once. @param error - What it ended with; undefined for OK. */
  #release(error: ConnectError | undefined): void {
    clearTimeout(this.#timer);
    if (this.#isGuarded) {
      this.#isGuarded = false;
      endCall(this.#calls.options.guards, this, error);
    }
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#calls.ended(this);
  }
}

/** How long a body is, as far as its first message's prefix tells; a lie of 4 GiB is not waited for. */
function announcedBytes(body: Buffer): number {
  return body.length < prefixBytes ? 0 : prefixBytes + body.readUInt32BE(1);
}

function deadlineError(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}
