import type { ConnectError } from "@connectrpc/connect";
import type { Clock } from "../../clock/clock.ts";
import type { Allowance } from "../../queue/allowance.ts";
import type { ToCallError } from "../../service/connect-error.ts";
import {
  type HotAnswer,
  type HotContext,
  type HotOperation,
  type HotStream,
  LentMessage,
  prefixBytes,
} from "../../service/hot/hot-method.ts";
import { callerGone, deadlinePassed, readerStalled } from "./call-errors.ts";
import type { CallGuard, CallNotes, GuardedCall } from "./call-guard.ts";
import type { CallHandler, CallStream } from "./call-stream.ts";
import { asHeader } from "./envelope/connect.ts";
import type { Ending, Envelope, Fields } from "./envelope/envelope.ts";
import { GatheredBytes } from "./gathered-bytes.ts";
import { type HotRoute, HotRoutes, type HotRoutesOptions } from "./hot-route.ts";
import type { MethodTraits } from "./method-table.ts";
import type { Peer } from "./peer.ts";

/** The hot methods of one kind of stream, their guard, and the handler of all other requests. */
export interface HotCallsOptions<Block, Stream extends CallStream<Block>> extends HotRoutesOptions<Block> {
  /** Takes every other request, and calls of hot methods that are not plain. */
  readonly others: (stream: Stream) => CallHandler<Stream>;
  readonly clock: Clock;
  /** How long a reader may take nothing of its answer before the call ends, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Asked for every call that is answered here; the general way asks the guards itself. */
  readonly guard: CallGuard | undefined;
  /** Whether calls that are answered in their turn are timed one by one, too. Default: they are not. */
  readonly timesEach?: boolean;
  /** Begins an expensive call in its turn. Absent: it begins at once, because a connection has one call at a time. */
  readonly queue?: (stream: Stream, begin: () => boolean) => void;
  /** Gives the other end of the request's connection. */
  readonly peerOf: (stream: Stream) => Peer;
  /** Turns an error that a method or a guard threw into the one that the caller gets. */
  readonly toError: ToCallError;
}

/** The largest request that is read here. */
export const bodyBytesMax = 4_096 + prefixBytes;
const noBody: Buffer = Buffer.alloc(0);
const noFields: HotContext["responseFields"] = [];

/**
 * Calls of the hot methods, on streams of the HTTP/2 engine or on requests of HTTP/1.1. Keeps a set of the calls that
 * wait or stream, so that they can be ended.
 *
 * `Block` is a head or a trailer section, encoded for the connection.
 */
export class HotCalls<Block, Stream extends CallStream<Block>> {
  readonly options: HotCallsOptions<Block, Stream>;
  readonly #routes: HotRoutes<Block>;
  readonly #running = new Set<HotCall<Block, Stream>>();
  #lastTrailers: { readonly fields: Fields; readonly block: Block } | undefined;
  #lastFailure: { readonly envelope: Envelope; readonly error: ConnectError; readonly ending: Ending } | undefined;

  constructor(options: HotCallsOptions<Block, Stream>) {
    this.options = options;
    this.#routes = new HotRoutes(options);
  }

  /** Encodes trailers; those of most calls, which are always the same object, once. */
  trailers(fields: Fields): Block {
    if (fields !== this.#lastTrailers?.fields) this.#lastTrailers = { fields, block: this.options.encode(fields) };
    return this.#lastTrailers.block;
  }

  /** The ending of a call that failed. Calls that are refused for the same cause share their error and its ending. */
  failure(envelope: Envelope, error: ConnectError): Ending {
    const last = this.#lastFailure;
    if (last?.error === error && last.envelope === envelope) return last.ending;
    const ending = envelope.fail(error, noFields);
    this.#lastFailure = { envelope, error, ending };
    return ending;
  }

  /** Gives the handler of a request. */
  onRequest(stream: Stream): CallHandler<Stream> {
    const { head } = stream;
    // Requests with the same header block share their head: it is read once.
    head.note ??= this.#routes.read(head) ?? "other";
    return head.note === "other"
      ? this.options.others(stream)
      : new HotCall(this, stream, head.note as HotRoute<Block>);
  }

  /** Calls that wait or stream. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Ends every call that waits or streams. */
  endAll(reason: ConnectError): void {
    for (const call of this.#running) call.end(reason);
  }

  began(call: HotCall<Block, Stream>): void {
    this.#running.add(call);
  }

  ended(call: HotCall<Block, Stream>): void {
    this.#running.delete(call);
  }
}

/**
 * One call. In the common case its request comes in one piece, is answered in the same turn, and nothing else is ever
 * made for it.
 */
class HotCall<Block, Stream extends CallStream<Block>> implements CallHandler<Stream>, HotContext, GuardedCall {
  readonly #calls: HotCalls<Block, Stream>;
  readonly #stream: Stream;
  readonly #route: HotRoute<Block>;
  responseFields = noFields;
  responseTrailers = noFields;
  /** The bytes of a body that does not come in one piece. */
  #body: GatheredBytes | undefined;
  #hasBegun = false;
  /** Whether it waits for its turn. */
  #isQueued = false;
  #isGuarded = false;
  #isRunning = false;
  #isEnding = false;
  #messages: HotStream | undefined;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(calls: HotCalls<Block, Stream>, stream: Stream, route: HotRoute<Block>) {
    this.#calls = calls;
    this.#stream = stream;
    this.#route = route;
  }

  onData(stream: Stream, bytes: Buffer, start: number, end: number): void {
    if (stream.hasEnded && this.#body === undefined) {
      this.#begin(bytes, start, end);
      return;
    }
    this.#body ??= new GatheredBytes();
    this.#body.append(bytes, start, end);
    const body = this.#body.bytes;
    const announced = this.#route.envelope.isPrefixed ? announcedBytes(body) : 0;
    if (body.length > bodyBytesMax || announced > bodyBytesMax) this.#handOn(body, 0, body.length);
    else if (stream.hasEnded) this.#begin(body, 0, body.length);
  }

  onEnd(stream: Stream, trailers: HotContext["requestFields"]): void {
    if (this.#hasBegun) return;
    const body = this.#body?.bytes ?? noBody;
    this.#begin(body, 0, body.length);
    // The call was handed on, but the engine still calls the former handler.
    if (!this.#hasBegun) stream.handler.onEnd?.(stream, trailers);
  }

  onWritable(): void {
    this.#pump();
  }

  onStall(): void {
    this.end(readerStalled(this.#calls.options.stallTimeoutMs));
  }

  onAbort(): void {
    this.#abort?.abort(callerGone());
    if (!this.#hasBegun || this.#isQueued) this.#calls.options.guard?.unread?.(this.traits, callerGone());
    this.#release(this.#isGuarded ? callerGone() : undefined);
  }

  get traits(): MethodTraits {
    return this.#route.traits;
  }

  get notes(): CallNotes {
    return this.#route.notes;
  }

  get startedMs(): number | undefined {
    const isTimed = this.#isRunning || this.#calls.options.timesEach === true || this.#route.method.kind === "direct";
    return isTimed ? this.#stream.openedMs : undefined;
  }

  get allowance(): Allowance | undefined {
    return this.#route.notes.principal?.allowance;
  }

  get peer(): Peer {
    return this.#calls.options.peerOf(this.#stream);
  }

  header(name: string): string | undefined {
    return this.#stream.head.get(name);
  }

  /** Made on first use: calls that are answered at once have none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      const leftMs = this.timeoutMs();
      if (leftMs !== undefined) {
        this.#timer = setTimeout(() => this.end(deadlinePassed()), Math.max(0, leftMs));
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

  get requestFields(): HotContext["requestFields"] {
    return this.#stream.head.fields;
  }

  /** Ends the call with an error, if it has not ended. */
  end(error: ConnectError): void {
    this.#abort?.abort(error);
    this.#fail(error);
  }

  /** Begins with the whole body: the bytes from `start` to `end`, exclusive. */
  #begin(bytes: Buffer, start: number, end: number): void {
    const message = this.#message(bytes, start, end);
    const operation = message === undefined ? undefined : this.#route.method.read(message);
    if (operation === undefined) {
      this.#handOn(bytes, start, end);
      return;
    }
    const { queue } = this.#calls.options;
    this.#hasBegun = true;
    if (queue === undefined || this.#route.method.kind === "hot") {
      this.#answerBy(operation);
      return;
    }
    this.#isQueued = true;
    queue(this.#stream, () => {
      if (this.#isEnding || this.#stream.isClosed) return false;
      this.#isQueued = false;
      this.#answerBy(operation);
      return true;
    });
  }

  /** Asks the guards, and does the call. */
  #answerBy(operation: HotOperation): void {
    const { guard } = this.#calls.options;
    let answer: HotAnswer;
    try {
      if (guard !== undefined) {
        guard.begin(this);
        this.#isGuarded = true;
      }
      if (this.#route.timeoutMs !== undefined && this.timeoutMs()! <= 0) throw deadlinePassed();
      answer = operation(this);
    } catch (thrown) {
      const error = this.#calls.options.toError(thrown, this.#route.traits.path);
      if (!this.#isGuarded) guard?.endAfterRefusal?.(this, error);
      this.#fail(error);
      return;
    }
    if (answer instanceof LentMessage || answer instanceof Uint8Array) this.#answer(answer);
    else if (answer instanceof Promise) this.#await(answer, (message) => this.#answer(message));
    else this.#startStream(answer);
  }

  /** Unwraps the request of the whole body; undefined if it is not plain. */
  #message(bytes: Buffer, start: number, end: number): Buffer | undefined {
    const { envelope, json } = this.#route;
    let at = start;
    if (envelope.isPrefixed) {
      at += prefixBytes;
      if (at > end || bytes[start] !== 0 || bytes.readUInt32BE(start + 1) !== end - at) return undefined;
    }
    if (json !== undefined) return json.read(bytes, at, end);
    // A view of bytes costs more than all that NextId does with an empty request.
    return at === end ? noBody : bytes.subarray(at, end);
  }

  #handOn(bytes: Buffer, start: number, end: number): void {
    const stream = this.#stream;
    stream.handler = this.#calls.options.others(stream);
    if (end > start) stream.handler.onData?.(stream, bytes, start, end);
  }

  #answer(message: LentMessage | Uint8Array): void {
    const { envelope, json, heads } = this.#route;
    this.#isEnding = true;
    const binary = message instanceof LentMessage ? message.bytes : message;
    const framed = json?.write(binary, prefixBytes) ?? binary;
    const bytes = envelope.isPrefixed ? framed : framed.subarray(prefixBytes);
    if (envelope.isPrefixed) this.#respond();
    else this.#respond(this.#isPlain ? heads.ofLength(bytes.length) : this.#lengthHead(bytes.length));
    if (json !== undefined || message instanceof LentMessage) this.#stream.writeLent(bytes);
    else this.#stream.write(bytes);
    this.#end(this.#ok());
    this.#release(undefined);
  }

  /** Whether the method sends no fields besides its messages. */
  get #isPlain(): boolean {
    return this.responseFields.length === 0 && this.responseTrailers.length === 0;
  }

  /** Connect's unary calls have their trailers in the head. */
  #lengthHead(length: number): Block {
    const more = [...this.responseFields, ...asHeader(this.responseTrailers)];
    return this.#route.heads.with([...more, ["content-length", String(length)]]);
  }

  #await<Message>(answer: Promise<Message>, then: (message: Message) => void): void {
    this.#run();
    this.#holdDeadline();
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
    this.#holdDeadline();
    this.#pump();
  }

  /** The deadline holds whether or not the method looks at its signal, also while the reader keeps a stream waiting. */
  #holdDeadline(): void {
    if (this.#route.timeoutMs !== undefined) void this.signal;
  }

  /** Sends messages until the reader or the source makes the call wait. */
  #pump(): void {
    const stream = this.#stream;
    try {
      while (!stream.isClosed && !this.#isEnding) {
        this.#calls.options.guard?.goOn?.(this);
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
    const { json } = this.#route;
    return json === undefined ? this.#stream.write(message) : this.#stream.writeLent(json.write(message, prefixBytes));
  }

  #finish(): void {
    this.#respond();
    this.#isEnding = true;
    this.#end(this.#ok());
    this.#release(undefined);
  }

  #respond(head?: Block): void {
    const stream = this.#stream;
    if (stream.hasResponded) return;
    const { heads } = this.#route;
    const fields = this.responseFields;
    stream.respond(head ?? (fields.length === 0 ? heads.plain : heads.with(fields)), "body");
  }

  #ok(): Ending | undefined {
    return this.#route.envelope.succeed(this.responseTrailers);
  }

  /** Ends a response that has begun. */
  #end(ending: Ending | undefined): void {
    const stream = this.#stream;
    if (ending?.kind === "trailers") {
      stream.end(this.#calls.trailers(ending.fields));
      return;
    }
    if (ending !== undefined) stream.write(ending.kind === "frame" ? ending.bytes : ending.body);
    stream.end();
  }

  #failWith(error: unknown): void {
    this.#fail(this.#calls.options.toError(error, this.#route.traits.path));
  }

  #fail(error: ConnectError): void {
    const stream = this.#stream;
    if (this.#isEnding || stream.isClosed) return;
    this.#isEnding = true;
    const { envelope, heads } = this.#route;
    const { responseTrailers } = this;
    const ending =
      responseTrailers.length === 0 ? this.#calls.failure(envelope, error) : envelope.fail(error, responseTrailers);
    if (ending.kind === "response") {
      const length = ["content-length", String(ending.body.length)] as const;
      const fields = [...ending.fields, ...this.responseFields, length];
      stream.respond(heads.of(ending.status, ending.contentType, fields), "body");
    } else if (ending.kind === "frame" || this.responseFields.length > 0) {
      this.#respond();
    }
    if (stream.hasResponded) this.#end(ending);
    else if (ending.kind === "trailers") stream.respond(heads.with(ending.fields), "end");
    this.#release(error);
  }

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#calls.began(this);
  }

  /** Releases everything that the call held, once. @param error - The error that ended it; undefined for OK. */
  #release(error: ConnectError | undefined): void {
    clearTimeout(this.#timer);
    if (this.#isGuarded) {
      this.#isGuarded = false;
      this.#calls.options.guard?.end?.(this, error);
    }
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#messages?.close?.();
    this.#calls.ended(this);
  }
}

/** How long a body is according to the prefix of its first message; a false prefix of 4 GiB causes no wait. */
function announcedBytes(body: Buffer): number {
  return body.length < prefixBytes ? 0 : prefixBytes + body.readUInt32BE(1);
}
