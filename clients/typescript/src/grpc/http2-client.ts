/**
 * One HTTP/2 connection, the client's side, for requests with a short body: RFC 9113 sections 3.4, 5, 6 and 8.1.
 *
 * It does no I/O and reads no clock: bytes go in by `receive` and come out by `output`. It is built from parts of the
 * server's engine (frames, header blocks, windows, output). docs/adr/0115 says why.
 */
import { ConnectionError, errorCode, type ErrorCode, StreamError } from "../../../../src/http2/error-code.ts";
import {
  frameFlag,
  framePayloadBytesMin,
  frameType,
  paddingBytes,
  preface,
  settingId,
  streamIdMax,
  windowBytesInitial,
  windowBytesMax,
} from "../../../../src/http2/frame.ts";
import { FrameReader, type FrameSink } from "../../../../src/http2/frame-reader.ts";
import { HeaderBlockReader, type HeaderBlockSink, type HeaderBlockTraits } from "../../../../src/http2/header-block.ts";
import { CompressionError } from "../../../../src/http2/hpack/compression-error.ts";
import { HpackDecoder } from "../../../../src/http2/hpack/decoder.ts";
import { emptyTableUpdate } from "../../../../src/http2/hpack/encoder.ts";
import type { Field } from "../../../../src/http2/hpack/field.ts";
import { OutputBuffer, SlabPool } from "../../../../src/http2/output-buffer.ts";
import { readPeerSettings } from "../../../../src/http2/peer-settings.ts";
import { ReceiveWindow } from "../../../../src/http2/receive-window.ts";
import { ClientStream, type Http2Request } from "./http2-request.ts";

/** Requests that may be open before the server's SETTINGS say how many: as many as RFC 9113 section 6.5.2 advises. */
export const streamsInitial = 100;
/** Larger answers come to wait for their readers in the windows of their streams, so this one can be wide. */
const connectionWindowBytes = 2 ** 20;
const headerListBytesMax = 65_536;
const headerFieldsMax = 128;
const blockLimits = { headerBlockBytesMax: 65_536, continuationFramesMax: 8 };
const pingPayload = Buffer.from("are you?", "latin1");
/** The longest part that is kept of a server's text for the end of a connection. */
const debugBytesMax = 100;
const slabs = new SlabPool();
const codeNames: ReadonlyMap<ErrorCode, string> = new Map(
  Object.entries(errorCode).map(([name, code]) => [code, name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()]),
);

/** Returns the name of an error code of RFC 9113 section 7, or its number. */
export function nameOfCode(code: ErrorCode): string {
  return codeNames.get(code) ?? String(code);
}

/** The engine of one connection to a server. Its owner sends the {@link preface} before the first output. */
export class Http2Client implements FrameSink, HeaderBlockSink {
  readonly #output: OutputBuffer;
  readonly #reader = new FrameReader(this, framePayloadBytesMin);
  readonly #blocks = new HeaderBlockReader(this, blockLimits);
  readonly #decoder = new HpackDecoder(headerListBytesMax, headerFieldsMax);
  readonly #streams = new Map<number, ClientStream>();
  /** Requests for which the server has no room yet. */
  readonly #waiting = new Set<ClientStream>();
  /** Requests whose body waits for a window. */
  readonly #blocked = new Set<ClientStream>();
  readonly #window = new ReceiveWindow(connectionWindowBytes);
  #sendWindowBytes = windowBytesInitial;
  #streamWindowBytes = windowBytesInitial;
  #streamsMax = streamsInitial;
  #nextId = 1;
  #hasSettings = false;
  #hasAnswered = false;
  #going: Error | undefined;
  #isOver = false;

  /** @param onOutput - Called when output begins to wait where none waited: call `output` soon. */
  constructor(onOutput: () => void) {
    this.#output = new OutputBuffer(slabs, onOutput);
    // Only a client begins with it.
    this.#reader.read(preface);
    this.#output.settings([
      [settingId.enablePush, 0],
      [settingId.maxHeaderListSize, headerListBytesMax],
    ]);
    this.#output.windowUpdate(0, connectionWindowBytes - windowBytesInitial);
  }

  /** Requests that are not answered to their end. */
  get openCount(): number {
    return this.#streams.size + this.#waiting.size;
  }

  /** How many requests may be open at once. */
  get streamsMax(): number {
    return this.#streamsMax;
  }

  /** Whether a new request would be sent. */
  get takesRequests(): boolean {
    return this.#going === undefined && !this.#isOver && this.#nextId < streamIdMax;
  }

  /** Whether the server has begun to speak HTTP/2. */
  get hasSettings(): boolean {
    return this.#hasSettings;
  }

  /** Whether a request was answered, or the answer has begun. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether the connection has ended: write what `output` still has, then end the socket. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends a request, at once or when the server has room for it. */
  request(request: Http2Request): ClientStream {
    const stream = new ClientStream(request);
    if (this.#streams.size < this.#streamsMax) this.#open(stream);
    else this.#waiting.add(stream);
    return stream;
  }

  /** Says that bytes of an answer were read, so that the server may send as many more. */
  consume(stream: ClientStream, bytes: number): void {
    const increment = stream.receiveWindow.consume(bytes);
    if (increment > 0 && this.#streams.has(stream.id)) this.#output.windowUpdate(stream.id, increment);
  }

  /** Ends a request; its methods are called no more. */
  cancel(stream: ClientStream): void {
    if (this.#waiting.delete(stream) || !this.#streams.has(stream.id)) return;
    this.#reset(stream, errorCode.cancel);
  }

  /** Asks for a sign of life. */
  ping(): void {
    this.#output.ping("ask", pingPayload, 0);
  }

  /** Takes bytes of the server's, and keeps no reference to them. */
  receive(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#reader.read(bytes);
    } catch (error) {
      const isTheirs = error instanceof ConnectionError || error instanceof CompressionError;
      const { message } = error as Error;
      const code = error instanceof ConnectionError ? error.code : errorCode.compressionError;
      this.#output.goAway(0, isTheirs ? code : errorCode.internalError, isTheirs ? message : "");
      this.end(new Error(`The connection is broken: ${message}`, { cause: error }));
    }
  }

  /** Returns the next bytes for the server; undefined if there are none. Call `onWritten` before any other method. */
  output(): Buffer | undefined {
    return this.#output.take();
  }

  /** Says what became of the bytes that `output` returned: the kernel has them all, or the socket still reads them. */
  onWritten(fate: "flushed" | "buffered"): void {
    this.#output.onWritten(fate);
  }

  /** Ends all requests, because the connection is gone. */
  end(cause: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.stop();
    const lost = [...this.#streams.values(), ...this.#waiting];
    this.#streams.clear();
    this.#waiting.clear();
    this.#blocked.clear();
    // The server's reason for the end explains more than the fact that the socket is closed.
    for (const { request } of lost) request.onLost(this.#going ?? cause);
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (this.#blocks.isOpen && type !== frameType.continuation) throw broken("a header block is interrupted");
    const isSettings = type === frameType.settings && (flags & frameFlag.ack) === 0;
    if (!this.#hasSettings && !isSettings) throw broken("the server does not begin with SETTINGS");
    try {
      this.#dispatch(type, flags, streamId, bytes, start, end);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      const stream = this.#streams.get(streamId);
      if (stream === undefined) return;
      this.#reset(stream, error.code);
      stream.request.onReset(error.code);
    }
  }

  #dispatch(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case frameType.data:
        this.#onData(flags, streamId, bytes, start, end);
        break;
      case frameType.headers:
        this.#blocks.onHeaders(flags, streamId, bytes, start, end);
        break;
      case frameType.continuation:
        this.#blocks.onContinuation(flags, streamId, bytes, start, end);
        break;
      case frameType.rstStream:
        checkSize(end - start === 4);
        this.#onReset(streamId, bytes.readUInt32BE(start));
        break;
      case frameType.settings:
        this.#onSettings(flags, bytes, start, end);
        break;
      case frameType.ping:
        checkSize(end - start === 8);
        if ((flags & frameFlag.ack) === 0) this.#output.ping("answer", bytes, start);
        break;
      case frameType.goAway:
        checkSize(end - start >= 8);
        this.#onGoAway(bytes, start, end);
        break;
      case frameType.windowUpdate:
        checkSize(end - start === 4);
        this.#onWindowUpdate(streamId, bytes.readUInt32BE(start) & windowBytesMax);
        break;
      case frameType.pushPromise:
        throw broken("a push was not allowed");
      default: // Priorities are for servers, and unknown frames are ignored: section 5.5.
    }
  }

  #onData(flags: number, streamId: number, bytes: Buffer, frameStart: number, frameEnd: number): void {
    const sizeBytes = frameEnd - frameStart;
    let start = frameStart;
    let end = frameEnd;
    if ((flags & frameFlag.padded) !== 0) {
      end -= paddingBytes(bytes, start, end);
      start++;
    }
    if (!this.#window.receive(sizeBytes)) {
      throw new ConnectionError(errorCode.flowControlError, "DATA exceeds the connection's window");
    }
    // The window is given back at once, or a paused reader would hold up all other answers.
    const increment = this.#window.consume(sizeBytes);
    if (increment > 0) this.#output.windowUpdate(0, increment);
    const stream = this.#find(streamId);
    if (stream === undefined) return;
    if (!stream.hasHead) throw new StreamError(streamId, errorCode.protocolError, "DATA before HEADERS");
    if (!stream.receiveWindow.receive(sizeBytes)) {
      throw new StreamError(streamId, errorCode.flowControlError, "DATA exceeds the stream's window");
    }
    const isLast = (flags & frameFlag.endStream) !== 0;
    if (isLast) this.#complete(stream);
    else if (end - start < sizeBytes) this.consume(stream, sizeBytes - (end - start));
    stream.request.onData(bytes, start, end, isLast);
  }

  onHeaderBlock(streamId: number, { endsStream }: HeaderBlockTraits, bytes: Buffer, start: number, end: number): void {
    // Also for a request that was cancelled: the table is shared.
    const fields = this.#decoder.decode(bytes, start, end);
    const stream = this.#find(streamId);
    if (stream === undefined) return;
    if (this.#decoder.isCut) throw new StreamError(streamId, errorCode.enhanceYourCalm, "too many header fields");
    const status = stream.hasHead ? undefined : statusOf(fields);
    const isMalformed = !fields.every((field, index) => isRegular(field) || (index === 0 && status !== undefined));
    const isInformational = status?.startsWith("1") === true;
    // Trailers end an answer, and an informational head does not: section 8.1.
    const isMisplaced = stream.hasHead ? !endsStream : status === undefined || (isInformational && endsStream);
    if (isMalformed || isMisplaced) throw new StreamError(streamId, errorCode.protocolError, "malformed header fields");
    if (isInformational) return;
    stream.hasHead = true;
    this.#hasAnswered = true;
    if (endsStream) this.#complete(stream);
    stream.request.onFields(fields, endsStream);
  }

  #onReset(streamId: number, code: ErrorCode): void {
    const stream = this.#find(streamId);
    if (stream === undefined) return;
    this.#close(stream);
    if (code === errorCode.refusedStream) stream.request.onUnprocessed(new Error("The server refused the request."));
    else stream.request.onReset(code);
  }

  #onSettings(flags: number, bytes: Buffer, start: number, end: number): void {
    if ((flags & frameFlag.ack) !== 0) return;
    const windowBytes = readPeerSettings(bytes, start, end) ?? this.#streamWindowBytes;
    for (let at = start; at < end; at += 6) {
      if (bytes.readUInt16BE(at) === settingId.maxConcurrentStreams) this.#streamsMax = bytes.readUInt32BE(at + 2);
    }
    const change = windowBytes - this.#streamWindowBytes;
    this.#streamWindowBytes = windowBytes;
    for (const stream of this.#streams.values()) stream.sendWindowBytes += change;
    this.#hasSettings = true;
    this.#output.settingsAck();
    this.#sendBlocked();
    this.#openWaiting();
  }

  #onGoAway(bytes: Buffer, start: number, end: number): void {
    const lastId = bytes.readUInt32BE(start) & streamIdMax;
    const code = nameOfCode(bytes.readUInt32BE(start + 4));
    const debug = bytes.toString("latin1", start + 8, Math.min(end, start + 8 + debugBytesMax));
    const said = debug.replaceAll(/[^ -~]+/g, " ").trim();
    this.#going = new Error(`The server ended the connection: ${said === "" ? code : `${code}, ${said}`}.`);
    const unprocessed = [...this.#streams.values()].filter(({ id }) => id > lastId);
    for (const { id } of unprocessed) this.#streams.delete(id);
    unprocessed.push(...this.#waiting);
    this.#waiting.clear();
    for (const stream of unprocessed) {
      this.#blocked.delete(stream);
      stream.request.onUnprocessed(this.#going);
    }
  }

  #onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      this.#sendWindowBytes += bytes;
      if (bytes === 0 || this.#sendWindowBytes > windowBytesMax) {
        throw new ConnectionError(errorCode.flowControlError, "the connection's window is out of range");
      }
    } else {
      const stream = this.#find(streamId);
      if (stream === undefined) return;
      stream.sendWindowBytes += bytes;
      if (bytes === 0 || stream.sendWindowBytes > windowBytesMax) {
        throw new StreamError(streamId, errorCode.flowControlError, "the stream's window is out of range");
      }
    }
    this.#sendBlocked();
  }

  /** The request of a frame; undefined if it is over. */
  #find(streamId: number): ClientStream | undefined {
    const stream = this.#streams.get(streamId);
    const isSent = streamId % 2 === 1 && streamId < this.#nextId;
    if (stream === undefined && !isSent) throw broken("a frame is for a request that was not sent");
    return stream;
  }

  #open(stream: ClientStream): void {
    const { head } = stream.request;
    stream.id = this.#nextId;
    stream.sendWindowBytes = this.#streamWindowBytes;
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#output.headers(stream.id, stream.id === 1 ? Buffer.concat([emptyTableUpdate, head]) : head, false);
    this.#sendBody(stream);
  }

  #openWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#streamsMax) return;
      this.#waiting.delete(stream);
      this.#open(stream);
    }
  }

  #sendBlocked(): void {
    for (const stream of this.#blocked) this.#sendBody(stream);
  }

  /** Sends what the windows allow of a body. */
  #sendBody(stream: ClientStream): void {
    const { body } = stream.request;
    while (stream.sentBytes < body.length) {
      const from = stream.sentBytes;
      const windowBytes = Math.min(stream.sendWindowBytes, this.#sendWindowBytes, framePayloadBytesMin);
      if (windowBytes <= 0) {
        this.#blocked.add(stream);
        return;
      }
      const to = Math.min(body.length, from + windowBytes);
      stream.sendWindowBytes -= to - from;
      this.#sendWindowBytes -= to - from;
      stream.sentBytes = to;
      this.#output.data(stream.id, body, from, to, to === body.length);
    }
    this.#blocked.delete(stream);
  }

  /** The answer has come to its end. */
  #complete(stream: ClientStream): void {
    // The answer may end before the whole body was sent; the rest is then not sent: section 8.1.
    if (this.#blocked.has(stream)) this.#reset(stream, errorCode.cancel);
    else this.#close(stream);
  }

  #reset(stream: ClientStream, code: ErrorCode): void {
    this.#output.rstStream(stream.id, code);
    this.#close(stream);
  }

  /** The request is over, which makes room for another one. */
  #close(stream: ClientStream): void {
    this.#streams.delete(stream.id);
    this.#blocked.delete(stream);
    this.#openWaiting();
  }
}

function statusOf(fields: readonly Field[]): string | undefined {
  const [first] = fields;
  return first?.name === ":status" && /^[1-9]\d\d$/.test(first.value) ? first.value : undefined;
}

/** Whether a field may occur in an answer: sections 8.2 and 8.3. */
function isRegular({ kind }: Field): boolean {
  return kind === "regular" || kind === "contentLength" || kind === "host";
}

function broken(message: string): ConnectionError {
  return new ConnectionError(errorCode.protocolError, message);
}

function checkSize(isRight: boolean): void {
  if (!isRight) throw new ConnectionError(errorCode.frameSizeError, "a frame has a wrong length");
}
