/**
 * One HTTP/2 connection, the server's side: RFC 9113 sections 3.4, 5.4, 6.3, 6.5, 6.7, 6.8 and 10.5.
 *
 * It does no I/O and reads no clock: bytes go in by `receive`, bytes come out by `output`, time comes as a parameter in
 * milliseconds that never fall. Scope: no push, no priorities, no CONNECT, no upgrade from HTTP/1.1.
 */
import { Budget } from "./budget.ts";
import { Deadlines } from "./deadlines.ts";
import { ConnectionError, errorCode, type ErrorCode, StreamError } from "./error-code.ts";
import { frameFlag, framePayloadBytesMin, frameType, settingId, streamIdMax, windowBytesInitial } from "./frame.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import { HeaderBlockReader } from "./header-block.ts";
import type { Limits } from "./limits.ts";
import { Outbox, type SlabPool } from "./outbox.ts";
import { readPeerSettings } from "./peer-settings.ts";
import { type RequestHost, Streams } from "./streams.ts";

/** What a connection needs of whoever holds it. */
export interface ConnectionHost extends RequestHost {
  /** Bytes wait that no call of the connection's own methods has caused: call `output` soon. */
  onOutput(): void;
  /**
   * The client broke a rule, of the protocol or of the limits, that nobody breaks in good faith or for others. Called
   * for the first one alone.
   */
  onViolation(): void;
}

/**
 * `open`; `announced`: the client was told that the end is near, and what it has sent meanwhile is still served;
 * `lastCall`: no new requests; `ended`: write what `output` still has, then end the socket; `dead`: nobody is there,
 * destroy the socket.
 */
export type ConnectionState = "open" | "announced" | "lastCall" | "ended" | "dead";

/**
 * The payloads of the PING that follows a drain's announcement, and of the one that asks whether the client is there.
 */
const drainPing = Buffer.from("draining", "latin1");
const keepAlivePing = Buffer.from("are you?", "latin1");
/**
 * How long a drain waits for the answer to its PING, as grpc-go's server does. A busy client takes its time, and what
 * it sent meanwhile would be refused.
 */
const announcementMs = 5_000;

/** The engine of one connection. */
export class Connection implements FrameSink {
  readonly #host: ConnectionHost;
  readonly #outbox: Outbox;
  readonly #streams: Streams;
  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlockReader;
  readonly #deadlines: Deadlines;
  readonly #settingsFrames: Budget;
  readonly #pings: Budget;
  #state: ConnectionState = "open";
  #isSettled = false;
  #hasViolated = false;
  #announcedMs = 0;
  #blockCount = 0;
  #drainCount = 0;
  /** Inside a call of this class, whoever made it asks for the output afterwards. */
  #isEntered = true;

  /** @param slabs - Shared by all connections of a process. */
  constructor(host: ConnectionHost, limits: Limits, slabs: SlabPool, nowMs: number) {
    this.#host = host;
    this.#outbox = new Outbox(slabs, () => {
      if (!this.#isEntered) host.onOutput();
    });
    this.#streams = new Streams(host, limits, this.#outbox, nowMs);
    this.#reader = new FrameReader(this, limits.framePayloadBytesMax);
    this.#blocks = new HeaderBlockReader(this.#streams, limits);
    this.#deadlines = new Deadlines(limits, nowMs);
    const { settingsPerSecond, pingsPerSecond } = limits;
    this.#settingsFrames = new Budget(
      { what: "SETTINGS", burst: 2 * settingsPerSecond, perSecond: settingsPerSecond },
      nowMs,
    );
    this.#pings = new Budget({ what: "PINGs", burst: 2 * pingsPerSecond, perSecond: pingsPerSecond }, nowMs);
    this.#greet(limits);
    this.#isEntered = false;
  }

  get state(): ConnectionState {
    if (this.#state === "lastCall" && this.#streams.openCount === 0) this.#state = "ended";
    return this.#state;
  }

  /** Requests that are open. */
  get openCount(): number {
    return this.#streams.openCount;
  }

  /** Whether {@link Connection.output} would give something. */
  get hasOutput(): boolean {
    return this.#outbox.pendingBytes > 0 || this.#streams.sender.canSend;
  }

  /** Takes bytes that the client sent. They are only lent. */
  receive(bytes: Buffer, nowMs: number): void {
    if (this.#isOver) return;
    this.#enter(nowMs, () => {
      this.#deadlines.onReceived(nowMs);
      this.#reader.read(bytes);
    });
  }

  /** Lets time pass: applies the time limits. Call it every second or so. */
  advance(nowMs: number): void {
    if (this.#isOver) return;
    this.#enter(nowMs, () => {
      this.#streams.checkDeadlines();
      if (this.#state === "announced" && nowMs - this.#announcedMs >= announcementMs) this.#callLast();
      this.#checkDeadlines(nowMs);
    });
  }

  /**
   * Gives the next bytes for the client, at most 64 kB; undefined if there are none. Call {@link Connection.settle}
   * before anything else, and leave other work its turn before the next call.
   */
  output(): Buffer | undefined {
    if (this.#streams.sender.canSend)
      this.#enter(this.#streams.nowMs, () => this.#streams.sender.run(this.#streams.nowMs));
    return this.#outbox.take();
  }

  /** Says whether the kernel has all bytes that `output` gave, or somebody still reads them. */
  settle(fate: "copied" | "held"): void {
    this.#outbox.settle(fate);
  }

  /**
   * Says whether the socket takes bytes. While it does not, stop calling `receive` too, or what is owed to the client
   * piles up.
   */
  setWritable(isWritable: boolean): void {
    if (isWritable) this.#drainCount++;
    this.#streams.sender.isWritable = isWritable;
  }

  /**
   * Ends the connection without losing a request: the client is told, what it sent before it heard is served, then no
   * more; `ended` follows when the last request is done, or at `drainTimeoutMs`. RFC 9113 section 6.8.
   */
  drain(nowMs: number): void {
    if (this.#state !== "open") return;
    this.#enter(nowMs, () => this.#announce(nowMs));
  }

  /** The socket is gone: closes every stream. */
  abort(): void {
    if (this.#state === "dead") return;
    this.#enter(this.#streams.nowMs, () => this.#finish("dead", errorCode.cancel));
    this.#outbox.discard();
  }

  get #isOver(): boolean {
    return this.state === "ended" || this.state === "dead";
  }

  /** Runs one call from outside. Whatever the client or this engine does wrong ends the connection, not the process. */
  #enter(nowMs: number, call: () => void): void {
    const wasEntered = this.#isEntered;
    this.#isEntered = true;
    this.#streams.nowMs = nowMs;
    try {
      call();
    } catch (error) {
      if (error instanceof ConnectionError) {
        this.#fail(error.code, error.message);
        if (!error.isExcusable) this.#noteViolation();
      } else {
        this.#host.onFault(error);
        this.#fail(errorCode.internalError, "");
      }
    }
    this.#isEntered = wasEntered;
  }

  #noteViolation(): void {
    if (this.#hasViolated) return;
    this.#hasViolated = true;
    this.#host.onViolation();
  }

  #greet(limits: Limits): void {
    this.#outbox.settings([
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
    if (more > 0) this.#outbox.windowUpdate(0, more);
  }

  /** @internal Called by the frame reader. */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    if (!this.#isSettled) {
      if (type !== frameType.settings || (flags & frameFlag.ack) !== 0) {
        throw new ConnectionError(errorCode.protocolError, "the first frame is not SETTINGS");
      }
      this.#isSettled = true;
    }
    if (this.#blocks.isOpen && type !== frameType.continuation) {
      throw new ConnectionError(errorCode.protocolError, "a header block is interrupted");
    }
    try {
      this.#dispatch(type, flags, streamId, bytes, start, end);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      // Requests come from afar, and proxies pass on what is wrong with them; windows are this client's own.
      if (error.code === errorCode.flowControlError) this.#noteViolation();
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
        this.#onWindowUpdate(streamId, bytes, start, end);
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

  #onWindowUpdate(streamId: number, bytes: Buffer, start: number, end: number): void {
    checkSize("WINDOW_UPDATE", end - start === 4);
    const incrementBytes = bytes.readUInt32BE(start) & 0x7fffffff;
    if (streamId !== 0) {
      this.#streams.onWindowUpdate(streamId, incrementBytes);
      return;
    }
    if (incrementBytes === 0) throw new ConnectionError(errorCode.protocolError, "WINDOW_UPDATE widens nothing");
    this.#streams.sender.widenConnection(incrementBytes);
  }

  #onPing(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    checkConnectionFrame("PING", streamId);
    checkSize("PING", end - start === 8);
    if ((flags & frameFlag.ack) === 0) {
      this.#pings.spend(this.#streams.nowMs);
      this.#outbox.ping("answer", bytes, start);
    } else if (this.#state === "announced" && drainPing.compare(bytes, start, end) === 0) {
      this.#callLast();
    }
  }

  #onSettings(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    checkConnectionFrame("SETTINGS", streamId);
    if ((flags & frameFlag.ack) !== 0) {
      checkSize("an acknowledgement of SETTINGS", end === start);
      return;
    }
    this.#settingsFrames.spend(this.#streams.nowMs);
    const { sender } = this.#streams;
    sender.setInitialWindow(readPeerSettings(bytes, start, end, sender.initialWindowBytes), this.#streams.all);
    this.#outbox.settingsAck();
  }

  /** Priorities are deprecated: a frame is checked and ignored (section 5.3.2). */
  #onPriority(streamId: number, bytes: Buffer, start: number, end: number): void {
    if (streamId === 0) throw new ConnectionError(errorCode.protocolError, "PRIORITY on stream 0");
    this.#streams.onEmptyFrame();
    const isSized = end - start === 5;
    if (isSized && (bytes.readUInt32BE(start) & streamIdMax) !== streamId) return;
    const code = isSized ? errorCode.protocolError : errorCode.frameSizeError;
    // RST_STREAM must not be sent for a stream that is idle (section 6.4), so that there the whole connection has to
    // end.
    if (this.#streams.isOpen(streamId)) throw new StreamError(streamId, code, "PRIORITY is malformed");
    throw new ConnectionError(code, "PRIORITY is malformed");
  }

  #onGoAway(streamId: number, length: number): void {
    checkConnectionFrame("GOAWAY", streamId);
    checkSize("GOAWAY", length >= 8);
    if (this.#state === "open" || this.#state === "announced") this.#callLast();
  }

  #announce(nowMs: number): void {
    this.#state = "announced";
    this.#announcedMs = nowMs;
    this.#outbox.goAway(streamIdMax, errorCode.noError, "");
    this.#outbox.ping("ask", drainPing, 0);
  }

  #callLast(): void {
    this.#state = "lastCall";
    this.#streams.servedIdMax = this.#streams.ids.lastId;
    this.#outbox.goAway(this.#streams.servedIdMax, errorCode.noError, "");
  }

  #checkDeadlines(nowMs: number): void {
    const verdict = this.#deadlines.check(nowMs, {
      isSettled: this.#isSettled,
      isDraining: this.#state === "announced" || this.#state === "lastCall",
      isIdle: this.#streams.openCount === 0,
      requestCount: this.#streams.ids.lastId,
      isMidFrame: this.#reader.isMidFrame,
      frameCount: this.#reader.frameCount,
      isMidBlock: this.#blocks.isOpen,
      blockCount: this.#blockCount,
      isBlocked: !this.#streams.sender.isWritable,
      drainCount: this.#drainCount,
    });
    switch (verdict) {
      case "fine":
        break;
      case "ping":
        this.#outbox.ping("ask", keepAlivePing, 0);
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
        // Without RST_STREAM: clients take the end of the connection for "unavailable", and try elsewhere.
        this.#fail(errorCode.noError, "");
        break;
      case "peerGone":
        this.#finish("dead", errorCode.cancel);
        break;
    }
  }

  #fail(code: ErrorCode, message: string): void {
    if (this.#isOver) return;
    // After the last call the number must not grow: section 6.8.
    this.#outbox.goAway(Math.min(this.#streams.ids.lastId, this.#streams.servedIdMax), code, message);
    this.#finish("ended", code);
  }

  #finish(state: "ended" | "dead", code: ErrorCode): void {
    this.#state = state;
    this.#reader.stop();
    this.#streams.abortAll(code);
  }
}

function checkConnectionFrame(name: string, streamId: number): void {
  if (streamId !== 0) throw new ConnectionError(errorCode.protocolError, `${name} on a stream`);
}

function checkSize(name: string, isRight: boolean): void {
  if (!isRight) throw new ConnectionError(errorCode.frameSizeError, `${name} has a wrong length`);
}
