import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import { preface } from "../../../../src/http2/frame.ts";
import { ConnectionFault } from "./connection-fault.ts";
import type { ChannelTarget } from "./channel-target.ts";
import { Http2Client } from "./http2-client.ts";
import type { ClientStream, Http2Request } from "./http2-request.ts";

/** How often the time is checked while there is something to check. */
const lookMs = 1_000;
/** While a request is open, a PING is sent after this much silence, */
const openSilenceMs = 30_000;
/** and the connection is cut if its answer, or the server's first frame, does not come within this time. */
const answerMs = 15_000;
/**
 * A connection that has not answered yet is not replaced before this age: its server may be overloaded, and one more
 * handshake would add to the load.
 */
const openingMs = 10_000;

/** As much as Node reads at once. */
const readBytes = 65_536;

/** One connection to a server: moves bytes between a socket and {@link Http2Client}, and notices that it is dead. */
export class ClientSocket {
  readonly #socket: Socket;
  readonly #http2: Http2Client;
  /** Whether the server is connected, and its identity is verified. */
  #isReady = false;
  #isRetired = false;
  #isFlushPlanned = false;
  #isKeeping = true;
  readonly #openedMs = performance.now();
  #heardMs = this.#openedMs;
  /** Since the first request that was sent after the last byte came; undefined while no answer is due. */
  #silentSinceMs: number | undefined;
  /** Since when an answer is awaited; undefined when any byte came since. */
  #askedMs: number | undefined = this.#heardMs;
  #looking: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  /**
   * Connects. Bytes leave only when the server has shown its certificate, where it must: the first request may carry a
   * token.
   *
   * @param onClosed - Called once, when nothing more can be sent.
   */
  constructor(target: ChannelTarget, onClosed: () => void) {
    const socket = openSocket(target, (chunk) => this.#receive(chunk));
    this.#socket = socket;
    this.#http2 = new Http2Client(() => this.#planFlush());
    socket.setNoDelay(true);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => this.#onConnected());
    socket.on("drain", () => socket.resume());
    socket.on("end", () => socket.destroy());
    socket.on("error", (error) => (this.#failure ??= error));
    socket.on("close", () => {
      clearInterval(this.#looking);
      const text = "The server closed the connection.";
      const closed = this.#http2.hasSettings ? new Error(text) : new ConnectionFault("CLOSED_FIRST", text);
      this.#http2.end(this.#failure ?? closed);
      onClosed();
    });
  }

  /** Whether a new request is better sent here than over a new connection. */
  get takesRequests(): boolean {
    return !this.#isRetired && !this.#socket.destroyed && this.#http2.takesRequests;
  }

  /** Whether it gets no more requests. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Whether a request was answered. */
  get hasAnsweredRequest(): boolean {
    return this.#http2.hasAnswered;
  }

  /** Whether it is open and has answered nothing for the given time. */
  isDark(silenceMs: number): boolean {
    const nowMs = performance.now();
    if (!this.hasAnsweredRequest && nowMs - this.#openedMs < openingMs) return false;
    return nowMs - (this.#silentSinceMs ?? Infinity) >= silenceMs;
  }

  /** Records that an answer is due from now on. */
  awaitAnswer(): void {
    this.#silentSinceMs ??= performance.now();
  }

  /** How many requests may be open at once. */
  get streamsMax(): number {
    return this.#http2.streamsMax;
  }

  /** Whether the server has answered anything. */
  get hasAnswered(): boolean {
    return this.#http2.hasSettings;
  }

  /** Sends a request. */
  send(request: Http2Request): ClientStream {
    this.awaitAnswer();
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
    return this.#http2.request(request);
  }

  /** Says that bytes of an answer were read, so that the server may send as many more. */
  consume(stream: ClientStream, bytes: number): void {
    this.#http2.consume(stream, bytes);
  }

  /** Ends a request. */
  cancel(stream: ClientStream): void {
    this.#http2.cancel(stream);
    this.#planFlush();
  }

  /** Takes no more requests, and closes after the last. */
  retire(): void {
    this.#isRetired = true;
    this.#planFlush();
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onConnected(): void {
    const socket = this.#socket;
    if (socket instanceof TLSSocket && socket.alpnProtocol !== "h2") {
      socket.destroy(new ConnectionFault("NOT_GRPC", "The server does not offer HTTP/2 (ALPN has no h2)."));
      return;
    }
    this.#isReady = true;
    socket.write(preface);
    this.#flush();
  }

  #receive(chunk: Buffer): void {
    this.#heardMs = performance.now();
    this.#askedMs = undefined;
    this.#silentSinceMs = undefined;
    if (!this.#http2.hasSettings && chunk.toString("latin1", 0, 7) === "HTTP/1.") {
      const text = "The server answers by HTTP/1.1, and gRPC needs HTTP/2.";
      this.#socket.destroy(new ConnectionFault("NOT_GRPC", text));
      return;
    }
    this.#http2.receive(chunk);
    this.#flush();
  }

  #ask(): void {
    if (this.#askedMs !== undefined) return;
    this.#askedMs = performance.now();
    this.#http2.ping();
  }

  /** Checks whether the server is still there, for as long as any call waits for it. */
  #look(): void {
    const nowMs = performance.now();
    if (this.#askedMs !== undefined && nowMs - this.#askedMs >= answerMs) {
      this.#socket.destroy(new Error(`The server has not answered for ${answerMs / 1_000} s.`));
    } else if (this.#askedMs === undefined && this.#http2.openCount === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
    } else if (nowMs - this.#heardMs >= openSilenceMs) this.#ask();
  }

  /** Requests of one turn leave in one write. */
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    process.nextTick(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const http2 = this.#http2;
    for (let bytes = this.#isReady ? http2.output() : undefined; bytes !== undefined; bytes = http2.output()) {
      const hasRoom = socket.write(bytes);
      http2.onWritten(socket.writableLength === 0 ? "flushed" : "buffered");
      // Otherwise answers to PINGs of a server that reads nothing would pile up.
      if (!hasRoom) socket.pause();
    }
    const isIdle = http2.openCount === 0;
    if (http2.isOver || (isIdle && (this.#isRetired || !http2.takesRequests))) socket.destroySoon();
    // A connection without requests keeps no process alive.
    if (isIdle === this.#isKeeping) {
      this.#isKeeping = !isIdle;
      if (isIdle) socket.unref();
      else socket.ref();
    }
  }
}

/** @param onChunk - Takes what was read; the bytes are overwritten after the call. */
function openSocket({ url, address, tls }: ChannelTarget, onChunk: (chunk: Buffer) => void): Socket {
  const { protocol, hostname, port, pathname } = url;
  const name = hostname.replaceAll(/^\[|\]$/g, "");
  const host = address ?? name;
  // One buffer for all that is read: a new one for each answer costs as much as the rest of it.
  const callback = (length: number, bytes: Uint8Array): boolean => {
    onChunk((bytes as Buffer).subarray(0, length));
    return true;
  };
  const options = { host, onread: { buffer: Buffer.allocUnsafeSlow(readBytes), callback } };
  if (protocol === "unix:") return connect({ path: decodeURIComponent(pathname), onread: options.onread });
  if (protocol === "http:") return connect({ ...options, port: Number(port || 80) });
  // Server names must not be addresses: RFC 6066 section 3.
  const servername = isIP(name) === 0 ? { servername: name } : {};
  const certificates = typeof tls === "function" ? tls() : tls;
  return connectTls({ ...certificates, ...servername, ...options, port: Number(port || 443), ALPNProtocols: ["h2"] });
}
