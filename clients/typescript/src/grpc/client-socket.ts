import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import { preface } from "../../../../src/http2/frame.ts";
import { Http2Client } from "./http2-client.ts";
import type { ClientStream, Http2Request } from "./http2-request.ts";
import type { TlsOptions } from "./tls-options.ts";

/** How often time is looked at while there is something to look for. */
const lookMs = 1_000;
/** A PING goes out after so much silence while a request is open, */
const openSilenceMs = 30_000;
/** and with a request that is the first after so much. */
const idleSilenceMs = 10_000;
/** New requests go to another connection when a PING has no answer for so long, */
const doubtMs = 1_000;
/** and the connection is cut when it, or the server's first frame, is not there after so long. */
const answerMs = 15_000;

/** As much as Node reads at once. */
const readBytes = 65_536;

/** One connection to a server: moves bytes between a socket and {@link Http2Client}, and notices that it is dead. */
export class ClientSocket {
  readonly #socket: Socket;
  readonly #http2: Http2Client;
  /** Whether the server is connected, and is the right one. */
  #isReady = false;
  #isRetired = false;
  #isFlushPlanned = false;
  #isKeeping = true;
  #heardMs = performance.now();
  /** Since when an answer is awaited; undefined when any byte came since. */
  #askedMs: number | undefined = this.#heardMs;
  #looking: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  /**
   * Connects. Bytes leave only when the server has shown its certificate, where it must: the first request may carry a
   * token.
   *
   * @param url - Scheme, host and port of the server.
   * @param onClosed - Called once, when nothing more can be sent.
   */
  constructor(url: URL, tls: TlsOptions | undefined, onClosed: () => void) {
    const socket = openSocket(url, tls, (chunk) => this.#receive(chunk));
    this.#socket = socket;
    this.#http2 = new Http2Client(() => this.#planFlush());
    socket.setNoDelay(true);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => this.#onConnected());
    socket.on("drain", () => socket.resume());
    socket.on("end", () => socket.destroy());
    socket.on("error", (error) => (this.#failure ??= error));
    socket.on("close", () => {
      clearInterval(this.#looking);
      this.#http2.end(this.#failure ?? new Error("The server closed the connection."));
      onClosed();
    });
  }

  /** Whether a new request is better sent here than over a new connection. */
  get takesRequests(): boolean {
    const isDoubtful = this.#isReady && performance.now() - (this.#askedMs ?? Infinity) > doubtMs;
    return !isDoubtful && !this.#isRetired && !this.#socket.destroyed && this.#http2.takesRequests;
  }

  /** Whether the server has answered anything. */
  get hasAnswered(): boolean {
    return this.#http2.hasSettings;
  }

  /** Sends a request. */
  send(request: Http2Request): ClientStream {
    if (this.#isReady && performance.now() - this.#heardMs > idleSilenceMs) this.#ask();
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
    return this.#http2.request(request);
  }

  /** Says that bytes of an answer were read, so that the server may send as many more. */
  consume(stream: ClientStream, bytes: number): void {
    this.#http2.consume(stream, bytes);
  }

  /** Ends a request. */
  cancel(stream: ClientStream, why: "unwanted" | "too late"): void {
    this.#http2.cancel(stream);
    if (why === "too late" && this.#isReady && this.#http2.isSilentSince(stream)) this.#ask();
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
      socket.destroy(new Error("The server does not offer HTTP/2 (ALPN has no h2)."));
      return;
    }
    this.#isReady = true;
    socket.write(preface);
    this.#flush();
  }

  #receive(chunk: Buffer): void {
    this.#heardMs = performance.now();
    this.#askedMs = undefined;
    if (!this.#http2.hasSettings && chunk.toString("latin1", 0, 7) === "HTTP/1.") {
      this.#socket.destroy(new Error("The server answers by HTTP/1.1, and gRPC needs HTTP/2."));
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

  /** Looks whether the server is still there, for as long as anybody waits for it. */
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
function openSocket(
  { protocol, hostname, port, pathname }: URL,
  tls: TlsOptions | undefined,
  onChunk: (chunk: Buffer) => void,
): Socket {
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  // One buffer for all that is read: a new one for each answer costs as much as the rest of it.
  const callback = (length: number, bytes: Uint8Array): boolean => {
    onChunk((bytes as Buffer).subarray(0, length));
    return true;
  };
  const options = { host, onread: { buffer: Buffer.allocUnsafeSlow(readBytes), callback } };
  if (protocol === "unix:") return connect({ path: decodeURIComponent(pathname), onread: options.onread });
  if (protocol === "http:") return connect({ ...options, port: Number(port || 80) });
  // Server names are no addresses: RFC 6066 section 3.
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...tls, ...servername, ...options, port: Number(port || 443), ALPNProtocols: ["h2"] });
}
