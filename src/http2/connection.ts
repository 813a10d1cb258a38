/**
 * One HTTP/2 connection, the server's side: RFC 9113 sections 3.4, 5.4, 6.3, 6.5, 6.7, 6.8 and 10.5.
 *
 * It does no I/O and reads no clock: bytes go in through `receive` and come out through `output`; time is a parameter
 * in milliseconds that never goes back. Scope: no push, no priorities, no CONNECT, no upgrade from HTTP/1.1.
 * docs/adr/0040 explains why we wrote our own engine.
 */
import { Deadlines } from "./deadlines.ts";
import { ConnectionError, errorCode, type ErrorCode, StreamError } from "./error-code.ts";
import { frameFlag, framePayloadBytesMin, frameType, settingId, streamIdMax, windowBytesInitial } from "./frame.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import { HeaderBlockReader } from "./header-block.ts";
import { CompressionError } from "./hpack/compression-error.ts";
import type { Limits } from "./limits.ts";
import { OutputBuffer, type SlabPool } from "./output-buffer.ts";
import { readPeerSettings } from "./peer-settings.ts";
import { type RequestHost, Streams } from "./streams.ts";
import { FrameBucket } from "./frame-bucket.ts";

/**
 * `open`: requests are served. `announced`: a GOAWAY has told the client that the end is near; new requests are still
 * served. `refusing`: a second GOAWAY has named the last request that is served. `ended`: write what `output` still
 * has, then end the socket. `dead`: the client does not answer; destroy the socket.
 */
export type ConnectionState = "open" | "announced" | "refusing" | "ended" | "dead";

/** The payloads of the PING that follows a drain's announcement, and of the PING that a silent client must answer. */
const drainPing = Buffer.from("draining", "latin1");
const keepAlivePing = Buffer.from("are you?", "latin1");
/**
 * How long a drain waits for the answer to its PING; grpc-go's server waits as long. A busy client may answer late, and
 * requests that it sends after the second GOAWAY are not served.
 */
const announcementMs = 5_000;

/** The engine of one connection. */
export class Connection implements FrameSink {
  readonly #onFault: (error: unknown) => void;
  readonly #output: OutputBuffer;
  readonly #streams: Streams;
  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlockReader;
  readonly #deadlines: Deadlines;
  readonly #settingsFrames: FrameBucket;
  readonly #pings: FrameBucket;
  readonly #windowUpdates: FrameBucket;
  /** WINDOW_UPDATE frames that answered our DATA frames. */
  #answeringUpdateCount = 0;
  #state: ConnectionState = "open";
  #hasPeerSettings = false;
  #announcedMs = 0;
  #blockCount = 0;
  #unblockedCount = 0;
  /** True inside a call of this class. Its caller asks for the output afterwards, so that `onOutput` is not needed. */
  #isEntered = true;

  /**
   * @param host - Answers the requests.
   * @param onOutput - A handler has produced output outside of a call of the connection's methods: call `output` soon.
   * @param slabs - Shared by all connections of a process.
   */
  constructor(host: RequestHost, onOutput: () => void, limits: Limits, slabs: SlabPool, nowMs: number) {
    this.#onFault = host.onFault;
    this.#output = new OutputBuffer(slabs, () => {
      if (!this.#isEntered) onOutput();
    });
    this.#streams = new Streams(host, limits, this.#output, nowMs, (error) => this.#onError(error));
    this.#reader = new FrameReader(this, limits.framePayloadBytesMax);
    this.#blocks = new HeaderBlockReader(this.#streams, limits);
    this.#deadlines = new Deadlines(limits, nowMs);
    const { settingsPerSecond, pingsPerSecond, windowUpdatesPerSecond } = limits;
    this.#settingsFrames = new FrameBucket({ what: "SETTINGS", perSecond: settingsPerSecond }, nowMs);
    this.#pings = new FrameBucket({ what: "PINGs", perSecond: pingsPerSecond }, nowMs);
    this.#windowUpdates = new FrameBucket({ what: "WINDOW_UPDATEs", perSecond: windowUpdatesPerSecond }, nowMs);
    this.#sendPreface(limits);
    this.#isEntered = false;
  }

  get state(): ConnectionState {
    if (this.#state === "refusing" && this.#streams.openCount === 0) this.#state = "ended";
    return this.#state;
  }

  /** Requests that are open. */
  get openCount(): number {
    return this.#streams.openCount;
  }

  /** How long to leave the socket unread from now on, in milliseconds, because the client cancels too many requests. */
  get restMs(): number {
    return this.#streams.restMs;
  }

  /** Whether {@link Connection.output} would return something. */
  get hasOutput(): boolean {
    return this.#output.pendingBytes > 0 || this.#streams.canSend;
  }

  /** Takes bytes that the client sent, and keeps no reference to them. */
  receive(bytes: Buffer, nowMs: number): void {
    if (this.#isOver) return;
    this.#enter(nowMs, () => {
      this.#deadlines.onReceived(nowMs);
      this.#reader.read(bytes);
    });
  }

  /** Applies the time limits. Call it about once a second. */
  advance(nowMs: number): void {
    if (this.#isOver) return;
    this.#enter(nowMs, () => {
      this.#streams.checkDeadlines();
      if (this.#state === "announced" && nowMs - this.#announcedMs >= announcementMs) this.#refuseNewRequests();
      this.#checkDeadlines(nowMs);
    });
  }

  /**
   * Returns the next bytes for the client, at most 64 kB; undefined if there are none. Call
   * {@link Connection.onWritten} before any other method, and let other connections have a turn before the next call.
   */
  output(): Buffer | undefined {
    if (this.#streams.canSend) this.#enter(this.#streams.nowMs, () => this.#streams.send());
    return this.#output.take();
  }

  /**
   * Reports what happened to the bytes that `output` returned: the kernel has all of them, or the socket still reads
   * them.
   */
  onWritten(fate: "flushed" | "buffered"): void {
    this.#output.onWritten(fate);
  }

  /**
   * Reports whether the socket takes bytes. While it does not, do not call `receive` either: answers to what the client
   * sends would pile up.
   */
  setWritable(isWritable: boolean): void {
    if (isWritable) this.#unblockedCount++;
    this.#streams.setWritable(isWritable);
  }

  /**
   * Ends the connection without losing a request: RFC 9113 section 6.8. The client is informed first, and requests that
   * it sends until that has reached it are served. `ended` follows when the last request is done, or after
   * `drainTimeoutMs`.
   */
  drain(nowMs: number): void {
    if (this.#state !== "open") return;
    this.#enter(nowMs, () => this.#announce(nowMs));
  }

  /** Closes every stream, because the socket is closed. */
  abort(): void {
    if (this.#state === "dead") return;
    this.#enter(this.#streams.nowMs, () => this.#finish("dead", errorCode.cancel));
    this.#output.discard();
  }

  get #isOver(): boolean {
    return this.state === "ended" || this.state === "dead";
  }

  /** Runs one call from outside. An error of the client or of this engine ends the connection, not the process. */
  #enter(nowMs: number, call: () => void): void {
    const wasEntered = this.#isEntered;
    this.#isEntered = true;
    this.#streams.advanceTo(nowMs);
    try {
      call();
    } catch (error) {
      this.#onError(error);
    }
    this.#isEntered = wasEntered;
  }

  #onError(error: unknown): void {
    // Converted here, not where the decoder is called: a `try` around that call makes each request some 300 ns slower.
    const offence = error instanceof CompressionError ? brokenCompression(error) : error;
    if (offence instanceof ConnectionError) {
      this.#fail(offence.code, offence.message);
    } else {
      this.#onFault(error);
      this.#fail(errorCode.internalError, "");
    }
  }

  #sendPreface(limits: Limits): void {
    this.#output.settings([
      [settingId.maxConcurrentStreams, limits.concurrentStreamsMax],
      [settingId.maxHeaderListSize, limits.headerListBytesMax],
      ...(limits.streamWindowBytes === windowBytesInitial
        ? []
        : [[settingId.initialWindowSize, limits.streamWindowBytes] as const]),
      ...(limits.framePayloadBytesMax === framePayloadBytesMin
        ? []
        : [[settingId.maxFrameSize, limits.framePayloadBytesMax] as const]),
    ]);
    const more = limits.connectionWindowBytes - windowBytesInitial;
    if (more > 0) this.#output.windowUpdate(0, more);
  }

  /** @internal Called by the frame reader. */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    // The connection is over. The answers must not depend on how the bytes were divided into chunks.
    if (this.#state !== "open" && this.#isOver) return;
    if (!this.#hasPeerSettings) {
      if (type !== frameType.settings || (flags & frameFlag.ack) !== 0) {
        throw new ConnectionError(errorCode.protocolError, "the first frame is not SETTINGS");
      }
      this.#hasPeerSettings = true;
    }
    if (this.#blocks.isOpen && type !== frameType.continuation) {
      throw new ConnectionError(errorCode.protocolError, "a header block is interrupted");
    }
    try {
      this.#dispatch(type, flags, streamId, bytes, start, end);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#streams.onStreamError(error);
    }
  }

  #dispatch(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case frameType.data:
        this.#streams.onData(flags, streamId, bytes, start, end);
        break;
      case frameType.headers:
        if (streamId % 2 === 0) throw new ConnectionError(errorCode.protocolError, "HEADERS on an even stream");
        this.#blockCount++;
        this.#blocks.onHeaders(flags, streamId, bytes, start, end);
        break;
      case frameType.continuation:
        this.#blocks.onContinuation(flags, streamId, bytes, start, end);
        break;
      case frameType.windowUpdate:
        checkSize("WINDOW_UPDATE", end - start === 4);
        this.#chargeWindowUpdate();
        this.#streams.onWindowUpdate(streamId, bytes.readUInt32BE(start) & 0x7fffffff);
        break;
      case frameType.ping:
        this.#onPing(flags, streamId, bytes, start, end);
        break;
      case frameType.settings:
        this.#onSettings(flags, streamId, bytes, start, end);
        break;
      case frameType.rstStream:
        checkSize("RST_STREAM", end - start === 4);
        this.#streams.onReset(streamId, bytes.readUInt32BE(start));
        break;
      case frameType.priority:
        this.#onPriority(streamId, bytes, start, end);
        break;
      case frameType.goAway:
        this.#onGoAway(streamId, end - start);
        break;
      case frameType.pushPromise:
        throw new ConnectionError(errorCode.protocolError, "a client pushed");
      default: // ignored: section 5.5
        this.#streams.onEmptyFrame();
    }
  }

  /**
   * Two WINDOW_UPDATEs for each DATA frame that was sent cost nothing: a client with small windows needs them. Each
   * other one takes a token from the bucket.
   */
  #chargeWindowUpdate(): void {
    if (this.#answeringUpdateCount < 2 * this.#output.dataFrameCount) this.#answeringUpdateCount++;
    else this.#windowUpdates.take(this.#streams.nowMs);
  }

  #onPing(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    checkConnectionFrame("PING", streamId);
    checkSize("PING", end - start === 8);
    if ((flags & frameFlag.ack) === 0) {
      this.#pings.take(this.#streams.nowMs);
      this.#output.ping("answer", bytes, start);
      return;
    }
    this.#streams.onEmptyFrame();
    if (this.#state === "announced" && drainPing.compare(bytes, start, end) === 0) this.#refuseNewRequests();
  }

  #onSettings(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    checkConnectionFrame("SETTINGS", streamId);
    if ((flags & frameFlag.ack) !== 0) {
      checkSize("an acknowledgement of SETTINGS", end === start);
      this.#streams.onEmptyFrame();
      return;
    }
    this.#settingsFrames.take(this.#streams.nowMs);
    const initialWindowBytes = readPeerSettings(bytes, start, end);
    if (initialWindowBytes !== undefined) this.#streams.setInitialWindow(initialWindowBytes);
    this.#output.settingsAck();
  }

  /** Priorities are deprecated: a frame is checked and ignored (section 5.3.2). */
  #onPriority(streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId === 0) throw new ConnectionError(errorCode.protocolError, "PRIORITY on stream 0");
    this.#streams.onEmptyFrame();
    const isSized = end - start === 5;
    if (isSized && (bytes.readUInt32BE(start) & streamIdMax) !== streamId) return;
    const code = isSized ? errorCode.protocolError : errorCode.frameSizeError;
    // RST_STREAM must not be sent for an idle stream (section 6.4), so there the connection ends.
    if (this.#streams.isOpen(streamId)) throw new StreamError(streamId, code, "PRIORITY is malformed");
    throw new ConnectionError(code, "PRIORITY is malformed");
  }

  #onGoAway(streamId: number, length: number): void {
    checkConnectionFrame("GOAWAY", streamId);
    checkSize("GOAWAY", length >= 8);
    if (this.#state === "open" || this.#state === "announced") this.#refuseNewRequests();
  }

  #announce(nowMs: number): void {
    this.#state = "announced";
    this.#announcedMs = nowMs;
    this.#output.goAway(streamIdMax, errorCode.noError, "");
    this.#output.ping("ask", drainPing, 0);
  }

  #refuseNewRequests(): void {
    this.#state = "refusing";
    this.#streams.refuseNew();
    this.#output.goAway(this.#streams.lastServedId, errorCode.noError, "");
  }

  #checkDeadlines(nowMs: number): void {
    const verdict = this.#deadlines.check(nowMs, {
      hasPeerSettings: this.#hasPeerSettings,
      isDraining: this.#state === "announced" || this.#state === "refusing",
      isIdle: this.#streams.openCount === 0,
      requestCount: this.#streams.lastId,
      isMidFrame: this.#reader.isMidFrame,
      frameCount: this.#reader.frameCount,
      isMidBlock: this.#blocks.isOpen,
      blockCount: this.#blockCount,
      isBlocked: !this.#streams.isWritable,
      unblockedCount: this.#unblockedCount,
    });
    switch (verdict) {
      case "fine":
        break;
      case "ping":
        this.#output.ping("ask", keepAlivePing, 0);
        break;
      case "drain":
        this.#announce(nowMs);
        break;
      case "handshakeTimeout":
        this.#fail(errorCode.settingsTimeout, "the handshake took too long");
        break;
      case "frameTimeout":
        this.#fail(errorCode.enhanceYourCalm, "a frame or header block took too long");
        break;
      case "drainTimeout":
        // No RST_STREAM is sent: clients report the end of the connection as UNAVAILABLE and retry on another server.
        this.#fail(errorCode.noError, "");
        break;
      case "peerGone":
        this.#finish("dead", errorCode.cancel);
        break;
    }
  }

  #fail(code: ErrorCode, message: string): void {
    if (this.#isOver) return;
    this.#output.goAway(this.#streams.lastServedId, code, message);
    this.#finish("ended", code);
  }

  #finish(state: "ended" | "dead", code: ErrorCode): void {
    this.#state = state;
    this.#reader.stop();
    this.#streams.abortAll(code);
  }
}

function brokenCompression(error: CompressionError): ConnectionError {
  return new ConnectionError(errorCode.compressionError, error.message);
}

function checkConnectionFrame(name: string, streamId: number): void {
  if (streamId !== 0) throw new ConnectionError(errorCode.protocolError, `${name} on a stream`);
}

function checkSize(name: string, isRight: boolean): void {
  if (!isRight) throw new ConnectionError(errorCode.frameSizeError, `${name} has a wrong length`);
}
