/**
 * The requests of one connection: HEADERS, DATA, RST_STREAM and their windows. RFC 9113 sections 5.1, 5.2, 6.1, 6.2,
 * 6.4, 6.9 and 8.1.
 */
import { Budget } from "./budget.ts";
import { ConnectionError, errorCode, type ErrorCode, StreamError } from "./error-code.ts";
import type { Field } from "./field.ts";
import { frameFlag, paddingBytes, streamIdMax } from "./frame.ts";
import type { HeaderBlockSink, HeaderBlockTraits } from "./header-block.ts";
import { HpackDecoder } from "./hpack-decoder.ts";
import { emptyTableUpdate } from "./hpack-encoder.ts";
import type { Limits } from "./limits.ts";
import type { Outbox } from "./outbox.ts";
import { createRequestHead, isTrailerSection, type RequestHead } from "./request-head.ts";
import { SendScheduler, type SendSchedulerEvents } from "./send-scheduler.ts";
import { type KeptBytes, type ServerStream, Stream, type StreamHandler, type StreamOwner } from "./stream.ts";
import { StreamIds } from "./stream-ids.ts";

/** Who answers the requests. */
export interface RequestHost {
  /** A request's head has come. What it throws ends the stream with INTERNAL_ERROR. */
  onRequest(stream: ServerStream): StreamHandler;
  /** A handler threw. */
  onFault(error: unknown): void;
}

const noFields: readonly Field[] = [];

/** The open streams, and what frames and handlers do to them. */
export class Streams implements StreamOwner, HeaderBlockSink, SendSchedulerEvents {
  readonly ids = new StreamIds();
  readonly sender: SendScheduler;
  /** The time of the last call from outside. */
  nowMs: number;
  /** Streams above it are ignored: the client was told that they are not served (section 6.8). */
  servedIdMax = streamIdMax;
  readonly #host: RequestHost;
  readonly #limits: Limits;
  readonly #outbox: Outbox;
  readonly #open = new Map<number, Stream>();
  readonly #decoder: HpackDecoder;
  readonly #resets: Budget;
  readonly #emptyFrames: Budget;
  /** Requests whose fields are the very same array share their head. */
  #lastFields: readonly Field[] | undefined;
  #lastHead: RequestHead | undefined;
  #receiveWindowBytes: number;
  #creditBytes = 0;
  #hasSentBlock = false;
  #isOver = false;

  constructor(host: RequestHost, limits: Limits, outbox: Outbox, nowMs: number) {
    this.#host = host;
    this.#limits = limits;
    this.#outbox = outbox;
    this.nowMs = nowMs;
    this.sender = new SendScheduler(outbox, limits.outputBytesMax, this);
    this.#decoder = new HpackDecoder(limits.headerListBytesMax, limits.headerFieldsMax);
    this.#receiveWindowBytes = limits.connectionWindowBytes;
    this.#resets = new Budget({ what: "resets", burst: limits.resetBurst, perSecond: limits.resetsPerSecond }, nowMs);
    const perSecond = limits.emptyFramesPerSecond;
    this.#emptyFrames = new Budget({ what: "frames without content", burst: 2 * perSecond, perSecond }, nowMs);
  }

  get openCount(): number {
    return this.#open.size;
  }

  get all(): Iterable<Stream> {
    return this.#open.values();
  }

  isOpen(id: number): boolean {
    return this.#open.has(id);
  }

  /** Notes a frame that carries nothing. @throws ConnectionError ENHANCE_YOUR_CALM for too many. */
  onEmptyFrame(): void {
    this.#emptyFrames.spend(this.nowMs);
  }

  // Frames, in. Each may throw a StreamError or a ConnectionError.

  onHeaderBlock(id: number, traits: HeaderBlockTraits, bytes: Buffer, start: number, end: number): void {
    // Always, whatever becomes of the stream: the table is shared (RFC 7541 section 2.2).
    const fields = this.#decoder.decode(bytes, start, end);
    const stream = this.#open.get(id);
    if (stream !== undefined) {
      this.#onTrailers(stream, fields, traits);
      return;
    }
    if (id <= this.ids.lastId) {
      this.#onLateHeaders(id);
      return;
    }
    this.ids.use(id);
    if (id > this.servedIdMax) {
      this.ids.drop(id);
      return;
    }
    if (traits.dependsOnItself) throw new StreamError(id, errorCode.protocolError, "a stream depends on itself");
    if (fields === undefined) throw new StreamError(id, errorCode.enhanceYourCalm, "the header list is too large");
    if (this.#open.size >= this.#limits.concurrentStreamsMax) {
      // Not an offence: the client may not have seen our SETTINGS yet. It costs no more than a PING.
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
    const windows = { sendBytes: this.sender.initialWindowBytes, receiveBytes: this.#limits.streamWindowBytes };
    const stream = new Stream(this, id, head, windows, this.nowMs);
    stream.hasEnded = endsStream;
    this.#open.set(id, stream);
    try {
      stream.handler = this.#host.onRequest(stream);
    } catch (error) {
      this.#onHandlerFault(stream, error);
    }
    if (endsStream) this.#deliverEnd(stream, noFields);
  }

  #onTrailers(stream: Stream, fields: readonly Field[] | undefined, traits: HeaderBlockTraits): void {
    const { id } = stream;
    if (stream.hasEnded) throw new StreamError(id, errorCode.streamClosed, "HEADERS follows the end of the request");
    const isSound = traits.endsStream && !traits.dependsOnItself && fields !== undefined && isTrailerSection(fields);
    if (!isSound) throw new StreamError(id, errorCode.protocolError, "the trailer section is malformed");
    this.#checkLength(stream, true);
    stream.hasEnded = true;
    this.#deliverEnd(stream, fields);
  }

  #onLateHeaders(id: number): void {
    const kind = this.ids.kindOfClosed(id);
    if (kind === "dropped") return;
    const code = kind === "closed" ? errorCode.streamClosed : errorCode.protocolError;
    throw new ConnectionError(code, `HEADERS opens stream ${id} out of order`);
  }

  onData(flags: number, id: number, bytes: Buffer, frameStart: number, frameEnd: number): void {
    const flowBytes = frameEnd - frameStart;
    if (id === 0) throw new ConnectionError(errorCode.protocolError, "DATA on stream 0");
    // Padding counts too, and so do frames for streams that are gone: section 6.9.
    this.#receiveWindowBytes -= flowBytes;
    if (this.#receiveWindowBytes < 0) throw new ConnectionError(errorCode.flowControlError, "the window is overrun");
    let start = frameStart;
    let end = frameEnd;
    if ((flags & frameFlag.padded) !== 0) {
      end -= paddingBytes(bytes, start, end);
      start++;
    }
    const endsStream = (flags & frameFlag.endStream) !== 0;
    if (start === end && !endsStream) this.onEmptyFrame();
    const stream = this.#open.get(id);
    if (stream === undefined) {
      this.#creditConnection(flowBytes);
      this.#onLateData(id);
      return;
    }
    stream.unconsumedBytes += flowBytes;
    if (stream.hasEnded) throw new StreamError(id, errorCode.streamClosed, "DATA follows the end of the request");
    stream.receiveWindowBytes -= flowBytes;
    if (stream.receiveWindowBytes < 0) throw new StreamError(id, errorCode.flowControlError, "the window is overrun");
    stream.receivedBytes += end - start;
    this.#checkLength(stream, endsStream);
    stream.hasEnded = endsStream;
    if (flowBytes > end - start) this.credit(stream, flowBytes - (end - start));
    if (end > start) this.#deliverData(stream, bytes, start, end);
    if (endsStream) this.#deliverEnd(stream, noFields);
  }

  #onLateData(id: number): void {
    const kind = this.ids.kindOfClosed(id);
    if (kind === "idle") throw new ConnectionError(errorCode.protocolError, `DATA on idle stream ${id}`);
    if (kind !== "dropped") throw new StreamError(id, errorCode.streamClosed, "DATA on a closed stream");
  }

  /** Section 8.1.1: DATA must add up to the content-length. */
  #checkLength(stream: Stream, isComplete: boolean): void {
    const { contentLength } = stream.head;
    if (contentLength === undefined) return;
    const { receivedBytes } = stream;
    if (receivedBytes > contentLength || (isComplete && receivedBytes < contentLength)) {
      throw new StreamError(stream.id, errorCode.protocolError, "the body does not have its content-length");
    }
  }

  onReset(id: number, code: ErrorCode): void {
    const stream = this.#open.get(id);
    if (stream === undefined && this.ids.kindOfClosed(id) === "idle") {
      throw new ConnectionError(errorCode.protocolError, `RST_STREAM on idle stream ${id}`);
    }
    // A client whose deadlines run out cancels as many as it had begun.
    this.#resets.spend(this.nowMs, true);
    if (stream !== undefined) this.#abort(stream, code);
  }

  onWindowUpdate(id: number, incrementBytes: number): void {
    const stream = this.#open.get(id);
    if (stream === undefined) {
      if (this.ids.kindOfClosed(id) !== "idle") return;
      throw new ConnectionError(errorCode.protocolError, `WINDOW_UPDATE on idle stream ${id}`);
    }
    if (incrementBytes === 0) throw new StreamError(id, errorCode.protocolError, "WINDOW_UPDATE widens nothing");
    this.sender.widenStream(stream, incrementBytes);
  }

  /** Ends a stream for the client's error. @throws ConnectionError ENHANCE_YOUR_CALM for too many. */
  onStreamError(error: StreamError): void {
    this.#resets.spend(this.nowMs);
    this.#sendReset(error.streamId, error.code);
    const stream = this.#open.get(error.streamId);
    if (stream !== undefined) this.#abort(stream, error.code);
  }

  /** Ends what has waited too long. */
  checkDeadlines(): void {
    const { bodyTimeoutMs, stallTimeoutMs, stallGraceMs } = this.#limits;
    for (const stream of this.#open.values()) {
      if (stream.queuedBytes > 0) {
        if (this.nowMs - stream.movedMs < stallTimeoutMs) continue;
        const { stallToldMs } = stream;
        if (stallToldMs === undefined && stream.handler.onStall !== undefined) this.#tellStall(stream);
        // From when it was told, not from when bytes began to wait: looks may be further apart than the timeout.
        else if (stallToldMs === undefined || this.nowMs - stallToldMs >= stallGraceMs)
          this.#cut(stream, errorCode.cancel);
      } else if (!stream.hasEnded && !stream.hasResponded && this.nowMs - stream.openedMs >= bodyTimeoutMs) {
        this.#cut(stream, errorCode.cancel);
      }
    }
  }

  /** Closes every stream without a word to the client, for the connection ends. */
  abortAll(code: ErrorCode): void {
    this.#isOver = true;
    for (const stream of this.#open.values()) this.#abort(stream, code);
  }

  // Calls of handlers. What a handler throws must reach neither the other streams nor the process.

  #deliverData(stream: Stream, bytes: Buffer, start: number, end: number): void {
    if (stream.isClosed) return;
    const chunk = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    try {
      stream.handler.onData?.(stream, chunk, stream.hasEnded);
    } catch (error) {
      this.#onHandlerFault(stream, error);
    }
  }

  #deliverEnd(stream: Stream, trailers: readonly Field[]): void {
    if (stream.isClosed) return;
    try {
      stream.handler.onEnd?.(stream, trailers);
    } catch (error) {
      this.#onHandlerFault(stream, error);
    }
  }

  onWritable(stream: Stream): void {
    try {
      stream.handler.onWritable?.(stream);
    } catch (error) {
      this.#onHandlerFault(stream, error);
    }
  }

  #tellStall(stream: Stream): void {
    stream.stallToldMs = this.nowMs;
    try {
      stream.handler.onStall?.(stream);
    } catch (error) {
      this.#onHandlerFault(stream, error);
    }
  }

  #onHandlerFault(stream: Stream, error: unknown): void {
    this.#host.onFault(error);
    if (!stream.isClosed) this.#cut(stream, errorCode.internalError);
  }

  // Streams, out: see StreamOwner and SendSchedulerEvents.

  sendHead(stream: Stream, block: Buffer, kind: "informational" | "response" | "last"): void {
    const whole = this.#hasSentBlock ? block : Buffer.concat([emptyTableUpdate, block]);
    this.#hasSentBlock = true;
    this.#outbox.headers(stream.id, whole, kind === "last");
    if (kind === "last") this.#complete(stream);
  }

  sendData(stream: Stream, bytes: Uint8Array, keep: KeptBytes): boolean {
    return this.sender.send(stream, bytes, keep, this.nowMs);
  }

  onDrained(stream: Stream): void {
    this.sendEnd(stream);
  }

  sendEnd(stream: Stream): void {
    if (stream.trailers === undefined) this.#outbox.data(stream.id, noBytes, 0, 0, true);
    else this.#outbox.headers(stream.id, stream.trailers, true);
    this.#complete(stream);
  }

  dropQueued(stream: Stream): void {
    this.#emptyQueue(stream);
    if (stream.isEnding) this.sendEnd(stream);
  }

  credit(stream: Stream, bytes: number): void {
    stream.unconsumedBytes -= bytes;
    stream.creditBytes += bytes;
    this.#creditConnection(bytes);
    if (stream.hasEnded || stream.creditBytes < this.#limits.streamWindowBytes / 2) return;
    this.#outbox.windowUpdate(stream.id, stream.creditBytes);
    stream.receiveWindowBytes += stream.creditBytes;
    stream.creditBytes = 0;
  }

  #creditConnection(bytes: number): void {
    this.#creditBytes += bytes;
    if (this.#isOver || this.#creditBytes < this.#limits.connectionWindowBytes / 2) return;
    this.#outbox.windowUpdate(0, this.#creditBytes);
    this.#receiveWindowBytes += this.#creditBytes;
    this.#creditBytes = 0;
  }

  resetStream(stream: Stream, code: ErrorCode): void {
    this.#sendReset(stream.id, code);
    this.#close(stream);
  }

  /** The response is out. What is left of the request is not wanted: section 8.1. */
  #complete(stream: Stream): void {
    if (!stream.hasEnded) this.#sendReset(stream.id, errorCode.noError);
    this.#resets.refund();
    this.#close(stream);
  }

  #cut(stream: Stream, code: ErrorCode): void {
    this.#sendReset(stream.id, code);
    this.#abort(stream, code);
  }

  #sendReset(id: number, code: ErrorCode): void {
    this.#outbox.rstStream(id, code);
    this.ids.drop(id);
  }

  #abort(stream: Stream, code: ErrorCode): void {
    this.#close(stream);
    try {
      stream.handler.onAbort?.(stream, code);
    } catch (error) {
      this.#host.onFault(error);
    }
  }

  #close(stream: Stream): void {
    stream.isClosed = true;
    this.#emptyQueue(stream);
    this.#open.delete(stream.id);
    // Nobody will consume what came and was not read.
    if (stream.unconsumedBytes > 0) this.#creditConnection(stream.unconsumedBytes);
    stream.unconsumedBytes = 0;
  }

  #emptyQueue(stream: Stream): void {
    if (stream.queuedBytes === 0) return;
    stream.queue = [];
    stream.queuedBytes = 0;
    this.sender.remove(stream);
  }
}

const noBytes = new Uint8Array(0);
