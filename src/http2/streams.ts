/**
 * The requests of one connection: HEADERS, DATA, RST_STREAM and their windows. RFC 9113 sections 5.1, 5.2, 6.1, 6.2,
 * 6.4, 6.9 and 8.1.
 */
import { FrameBucket } from "./frame-bucket.ts";
import { ConnectionError, errorCode, type ErrorCode, StreamError } from "./error-code.ts";
import { frameFlag, paddingBytes, streamIdMax } from "./frame.ts";
import type { HeaderBlockSink, HeaderBlockTraits } from "./header-block.ts";
import { HpackDecoder } from "./hpack/decoder.ts";
import { emptyTableUpdate } from "./hpack/encoder.ts";
import type { Field } from "./hpack/field.ts";
import type { Limits } from "./limits.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import { ReceiveWindow } from "./receive-window.ts";
import { createRequestHead, isTrailerSection, type RequestHead } from "./request-head.ts";
import { SendScheduler } from "./send-scheduler.ts";
import { type KeptBytes, type ServerStream, Stream, type StreamHandler, type StreamOwner } from "./stream.ts";
import { StreamIds } from "./stream-ids.ts";

/** The server that answers the requests. */
export interface RequestHost {
  /** A request's head has come. An error that this throws ends the stream with INTERNAL_ERROR. */
  onRequest(stream: ServerStream): StreamHandler;
  /**
   * A request has more fields, or larger ones, than the limits allow. Its head has the first of them: refuse the
   * request.
   */
  onCutRequest(stream: ServerStream): StreamHandler;
  /** The object that handlers find as `stream.connection`; absent: one of the engine. */
  readonly connection?: object;
  /** A handler threw. */
  readonly onFault: (error: unknown) => void;
}

const noFields: readonly Field[] = [];
/** A body may begin with frames as small as clients like: a prefix, a short message. After that, they are counted. */
const smallFrameBytes = 64;

/** The open streams, and what frames and handlers do to them. */
export class Streams implements StreamOwner, HeaderBlockSink {
  readonly #host: RequestHost;
  readonly #onError: (error: unknown) => void;
  readonly #limits: Limits;
  readonly #output: OutputBuffer;
  readonly #scheduler: SendScheduler;
  readonly #ids = new StreamIds();
  readonly #open = new Map<number, Stream>();
  readonly #decoder: HpackDecoder;
  readonly #receiveWindow: ReceiveWindow;
  readonly #resets: FrameBucket;
  readonly #cancels: FrameBucket;
  readonly #emptyFrames: FrameBucket;
  #nowMs: number;
  #restUntilMs = 0;
  /** Requests above it are ignored: GOAWAY has told the client that they are not served (section 6.8). */
  #servedIdMax = streamIdMax;
  /** The decoder returns the same array for the same block; requests with the same array share their head. */
  #lastFields: readonly Field[] | undefined;
  #lastHead: RequestHead | undefined;
  #hasSentBlock = false;
  #isOver = false;

  /** @param onError - Ends the connection, because handlers reset too many streams. */
  constructor(
    host: RequestHost,
    limits: Limits,
    output: OutputBuffer,
    nowMs: number,
    onError: (error: unknown) => void,
  ) {
    this.#host = host;
    this.#onError = onError;
    this.#limits = limits;
    this.#output = output;
    this.#nowMs = nowMs;
    this.#scheduler = new SendScheduler(output, limits.outputBytesMax, (stream) => stream.onQueueEmpty());
    this.#decoder = new HpackDecoder(limits.headerListBytesMax, limits.headerFieldsMax);
    this.#receiveWindow = new ReceiveWindow(limits.connectionWindowBytes);
    const { resetBurst, resetsPerSecond, cancelsPerSecond, emptyFramesPerSecond } = limits;
    this.#resets = new FrameBucket({ what: "resets", burst: resetBurst, perSecond: resetsPerSecond }, nowMs);
    this.#cancels = new FrameBucket({ what: "cancels", perSecond: cancelsPerSecond }, nowMs);
    this.#emptyFrames = new FrameBucket({ what: "frames without content", perSecond: emptyFramesPerSecond }, nowMs);
  }

  get connection(): object {
    return this.#host.connection ?? this;
  }

  get openCount(): number {
    return this.#open.size;
  }

  isOpen(id: number): boolean {
    return this.#open.has(id);
  }

  /** The time of the last call from outside. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Sets the current time. Call it before any other call to which time matters. */
  advanceTo(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** How long the client should not be read, because it cancels faster than {@link Limits.cancelsPerSecond}. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - this.#nowMs);
  }

  /** The highest number that the client has used; 0 if none. */
  get lastId(): number {
    return this.#ids.lastId;
  }

  /** The last request that GOAWAY may promise to serve. It does not grow after {@link Streams.refuseNew}. */
  get lastServedId(): number {
    return Math.min(this.#ids.lastId, this.#servedIdMax);
  }

  /** Ignores requests that come from now on. */
  refuseNew(): void {
    this.#servedIdMax = this.#ids.lastId;
  }

  /** Whether {@link Streams.send} would send something. */
  get canSend(): boolean {
    return this.#scheduler.canSend;
  }

  /** Sends bytes of bodies that wait, as far as windows and output allow. */
  send(): void {
    this.#scheduler.run(this.#nowMs);
  }

  /** Whether the socket takes bytes. */
  get isWritable(): boolean {
    return this.#scheduler.isWritable;
  }

  setWritable(isWritable: boolean): void {
    this.#scheduler.isWritable = isWritable;
  }

  /** Applies the client's INITIAL_WINDOW_SIZE. @throws ConnectionError FLOW_CONTROL_ERROR: section 6.9.2. */
  setInitialWindow(bytes: number): void {
    this.#scheduler.setInitialWindow(bytes, this.#open.values());
  }

  /** Notes a frame that carries nothing, or almost nothing. @throws ConnectionError ENHANCE_YOUR_CALM for too many. */
  onEmptyFrame(): void {
    this.#emptyFrames.take(this.#nowMs);
  }

  // Incoming frames. Each method may throw a StreamError or a ConnectionError.

  onHeaderBlock(id: number, traits: HeaderBlockTraits, bytes: Buffer, start: number, end: number): void {
    // Every block is decoded, even that of a refused stream, because the table is shared (RFC 7541 section 2.2).
    const fields = this.#decoder.decode(bytes, start, end);
    const stream = this.#open.get(id);
    if (stream !== undefined) {
      this.#onTrailers(stream, fields, traits);
      return;
    }
    if (id <= this.#ids.lastId) {
      this.#onLateHeaders(id);
      return;
    }
    this.#ids.use(id);
    if (id > this.#servedIdMax) {
      this.#ids.ignore(id);
      return;
    }
    if (traits.dependsOnItself) throw new StreamError(id, errorCode.protocolError, "a stream depends on itself");
    if (this.#open.size >= this.#limits.concurrentStreamsMax) {
      // No token is taken: the client may not have seen our SETTINGS yet, and the reset costs no more than a PING.
      this.#sendReset(id, errorCode.refusedStream);
      return;
    }
    this.#onRequest(id, fields, traits.endsStream);
  }

  #onRequest(id: number, fields: readonly Field[], endsStream: boolean): void {
    if (fields !== this.#lastFields) {
      this.#lastFields = fields;
      this.#lastHead = createRequestHead(fields);
    }
    const head = this.#lastHead;
    if (head === undefined || (endsStream && (head.contentLength ?? 0) > 0)) {
      throw new StreamError(id, errorCode.protocolError, "the request is malformed");
    }
    const windows = { sendBytes: this.#scheduler.initialWindowBytes, receiveBytes: this.#limits.streamWindowBytes };
    const stream = new Stream(this, id, head, windows, this.#nowMs);
    if (endsStream) stream.receiveBody(0, true);
    this.#open.set(id, stream);
    try {
      stream.handler = this.#decoder.isCut ? this.#host.onCutRequest(stream) : this.#host.onRequest(stream);
    } catch (error) {
      this.onHandlerFault(stream, error);
    }
    if (endsStream) stream.deliverEnd(noFields);
  }

  #onTrailers(stream: Stream, fields: readonly Field[], traits: HeaderBlockTraits): void {
    const { id } = stream;
    if (stream.hasEnded) throw new StreamError(id, errorCode.streamClosed, "HEADERS follows the end of the request");
    const isSound = traits.endsStream && !traits.dependsOnItself && !this.#decoder.isCut && isTrailerSection(fields);
    if (!isSound) throw new StreamError(id, errorCode.protocolError, "the trailer section is malformed");
    stream.receiveBody(0, true);
    stream.deliverEnd(fields);
  }

  #onLateHeaders(id: number): void {
    const kind = this.#ids.kindOfClosed(id);
    if (kind === "ignored") return;
    const code = kind === "closed" ? errorCode.streamClosed : errorCode.protocolError;
    throw new ConnectionError(code, `HEADERS opens stream ${id} out of order`);
  }

  onData(flags: number, id: number, bytes: Buffer, frameStart: number, frameEnd: number): void {
    const flowBytes = frameEnd - frameStart;
    if (id === 0) throw new ConnectionError(errorCode.protocolError, "DATA on stream 0");
    // Padding counts on the window, and so do frames for closed streams: section 6.9.
    if (!this.#receiveWindow.receive(flowBytes)) {
      throw new ConnectionError(errorCode.flowControlError, "the window is overrun");
    }
    let start = frameStart;
    let end = frameEnd;
    if ((flags & frameFlag.padded) !== 0) {
      end -= paddingBytes(bytes, start, end);
      start++;
    }
    const endsStream = (flags & frameFlag.endStream) !== 0;
    const stream = this.#open.get(id);
    const isSmall = end - start < smallFrameBytes && !endsStream;
    if (isSmall && (start === end || (stream?.bodyBytes ?? 0) >= smallFrameBytes)) this.onEmptyFrame();
    if (stream === undefined) {
      this.#consume(flowBytes);
      this.#onLateData(id, isSmall && start < end);
      return;
    }
    const isAllowed = stream.receiveWindow.receive(flowBytes);
    if (stream.hasEnded) throw new StreamError(id, errorCode.streamClosed, "DATA follows the end of the request");
    if (!isAllowed) throw new StreamError(id, errorCode.flowControlError, "the window is overrun");
    stream.receiveBody(end - start, endsStream);
    if (flowBytes > end - start) this.consume(stream, flowBytes - (end - start));
    if (end > start) stream.deliverData(bytes, start, end);
    if (endsStream) stream.deliverEnd(noFields);
  }

  #onLateData(id: number, isSmall: boolean): void {
    const kind = this.#ids.kindOfClosed(id);
    if (kind === "idle") throw new ConnectionError(errorCode.protocolError, `DATA on idle stream ${id}`);
    if (kind === "ignored") {
      if (isSmall) this.onEmptyFrame();
      return;
    }
    // Section 5.1 requires the reset. It counts as a cancel: grpc-java sends DATA after its own reset, for each call
    // that it cancels at once, and many such calls must not end the connection that others use.
    this.#borrowCancel();
    this.#sendReset(id, errorCode.streamClosed);
  }

  onReset(id: number, code: ErrorCode): void {
    const stream = this.#open.get(id);
    if (stream === undefined && this.#ids.kindOfClosed(id) === "idle") {
      throw new ConnectionError(errorCode.protocolError, `RST_STREAM on idle stream ${id}`);
    }
    this.#borrowCancel();
    if (stream !== undefined) this.#abort(stream, code);
  }

  /** Too many cancels do not end the connection: in an outage the deadlines of honest callers expire together. */
  #borrowCancel(): void {
    this.#restUntilMs = this.#nowMs + this.#cancels.borrow(this.#nowMs);
  }

  /** @param id - 0 for the connection's window. */
  onWindowUpdate(id: number, incrementBytes: number): void {
    if (id === 0) {
      if (incrementBytes === 0) throw new ConnectionError(errorCode.protocolError, "WINDOW_UPDATE widens nothing");
      this.#scheduler.widenConnection(incrementBytes);
      return;
    }
    const stream = this.#open.get(id);
    if (stream === undefined) {
      if (this.#ids.kindOfClosed(id) !== "idle") return;
      throw new ConnectionError(errorCode.protocolError, `WINDOW_UPDATE on idle stream ${id}`);
    }
    if (incrementBytes === 0) throw new StreamError(id, errorCode.protocolError, "WINDOW_UPDATE widens nothing");
    this.#scheduler.widenStream(stream, incrementBytes);
  }

  /** Ends a stream for the client's error. @throws ConnectionError ENHANCE_YOUR_CALM for too many. */
  onStreamError(error: StreamError): void {
    this.#resets.take(this.#nowMs);
    this.#sendReset(error.streamId, error.code);
    const stream = this.#open.get(error.streamId);
    if (stream !== undefined) this.#abort(stream, error.code);
  }

  /** Ends streams whose response or request has waited too long. */
  checkDeadlines(): void {
    const { bodyTimeoutMs, stallTimeoutMs, stallGraceMs } = this.#limits;
    for (const stream of this.#open.values()) {
      if (stream.queuedBytes > 0) {
        if (this.#nowMs - stream.movedMs < stallTimeoutMs) continue;
        const { stallToldMs } = stream;
        if (stallToldMs === undefined && stream.handler.onStall !== undefined) stream.notifyStall(this.#nowMs);
        // The grace counts from when the handler was called, because checks may be further apart than the timeout.
        else if (stallToldMs === undefined || this.#nowMs - stallToldMs >= stallGraceMs)
          this.#cut(stream, errorCode.refusedStream);
      } else if (stream.isAwaitingBody && this.#nowMs - stream.openedMs >= bodyTimeoutMs) {
        this.#cut(stream, errorCode.cancel);
      }
    }
  }

  /** Closes every stream without telling the client, because the connection ends. */
  abortAll(code: ErrorCode): void {
    this.#isOver = true;
    for (const stream of this.#open.values()) this.#abort(stream, code);
  }

  // Calls by streams: see StreamOwner.

  onHandlerFault(stream: Stream, error: unknown): void {
    this.#host.onFault(error);
    if (stream.isClosed) return;
    this.#cut(stream, errorCode.internalError);
    this.#chargeReset();
  }

  sendHead(stream: Stream, block: Buffer, kind: "informational" | "response" | "last"): void {
    const whole = this.#hasSentBlock ? block : Buffer.concat([emptyTableUpdate, block]);
    this.#hasSentBlock = true;
    this.#output.headers(stream.id, whole, kind === "last");
    if (kind === "last") this.#complete(stream);
  }

  sendData(stream: Stream, bytes: Uint8Array, keep: KeptBytes): boolean {
    return this.#scheduler.send(stream, bytes, keep, this.#nowMs);
  }

  sendEnd(stream: Stream, trailers: Buffer | undefined): void {
    if (trailers === undefined) this.#output.data(stream.id, noBytes, 0, 0, true);
    else this.#output.headers(stream.id, trailers, true);
    this.#complete(stream);
  }

  dropQueued(stream: Stream): void {
    this.#scheduler.drop(stream);
  }

  consume(stream: Stream, bytes: number): void {
    this.#consume(bytes);
    const incrementBytes = stream.receiveWindow.consume(bytes);
    if (incrementBytes > 0 && !stream.hasEnded) this.#output.windowUpdate(stream.id, incrementBytes);
  }

  #consume(bytes: number): void {
    const incrementBytes = this.#receiveWindow.consume(bytes);
    if (incrementBytes > 0 && !this.#isOver) this.#output.windowUpdate(0, incrementBytes);
  }

  resetStream(stream: Stream, code: ErrorCode): void {
    this.#sendReset(stream.id, code);
    this.#close(stream);
    this.#chargeReset();
  }

  /** Counts a reset by a handler. Handlers reset streams from anywhere, so this must not throw. */
  #chargeReset(): void {
    try {
      this.#resets.take(this.#nowMs);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** Completes a stream whose response was framed as a whole. The rest of the request is not needed: section 8.1. */
  #complete(stream: Stream): void {
    if (!stream.hasEnded) this.#sendReset(stream.id, errorCode.noError);
    this.#cancels.refund();
    this.#close(stream);
  }

  #cut(stream: Stream, code: ErrorCode): void {
    this.#sendReset(stream.id, code);
    this.#abort(stream, code);
  }

  #sendReset(id: number, code: ErrorCode): void {
    this.#output.rstStream(id, code);
    this.#ids.ignore(id);
  }

  #abort(stream: Stream, code: ErrorCode): void {
    this.#close(stream);
    stream.notifyAbort(code);
  }

  #close(stream: Stream): void {
    stream.close();
    this.#scheduler.drop(stream);
    this.#open.delete(stream.id);
    // Bytes that were received but not read will not be consumed any more.
    const { heldBytes } = stream.receiveWindow;
    if (heldBytes > 0) this.#consume(heldBytes);
  }
}

const noBytes = new Uint8Array(0);
