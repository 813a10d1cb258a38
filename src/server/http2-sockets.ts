import type { Socket } from "node:net";
import type { Clock } from "../clock.ts";
import { Connection, type ConnectionHost } from "../http2/connection.ts";
import type { Limits } from "../http2/limits.ts";
import { SlabPool } from "../http2/outbox.ts";
import type { ServerStream, StreamHandler } from "../http2/stream.ts";
import type { RequestHost } from "../http2/streams.ts";

/** How often time limits are looked at. */
const lookMs = 1_000;
/**
 * How long a socket is still read after its end was written. Closing it with unread input would make the kernel reset
 * it, and the client might never see the reason that GOAWAY gives.
 */
const lingerMs = 1_000;

/** Serves HTTP/2 on sockets (net.Socket or TLSSocket) by the engine of src/http2. */
export class Http2Sockets {
  readonly #host: RequestHost;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #slabs = new SlabPool();
  readonly #sessions = new Set<Session>();
  #looking: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(host: RequestHost, limits: Limits, clock: Clock) {
    this.#host = host;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Connections that are not closed. */
  get connectionCount(): number {
    return this.#sessions.size;
  }

  /** Serves one connection. `firstBytes` were already read from the socket. */
  accept(socket: Socket, firstBytes?: Buffer): void {
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
    const session: Session = new Session(socket, this.#host, this.#limits, this.#slabs, this.#clock, () => {
      this.#sessions.delete(session);
    });
    this.#sessions.add(session);
    session.start(firstBytes);
    if (this.#isDraining) void session.drain();
  }

  /**
   * Ends every connection after its last request, at the latest when `drainTimeoutMs` has passed. Resolves when all
   * requests are over.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all([...this.#sessions].map((session) => session.drain()));
  }

  /** Cuts every connection. */
  close(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    for (const session of this.#sessions) session.destroy();
  }

  #look(): void {
    for (const session of this.#sessions) session.look();
  }
}

/** One connection: moves bytes between its socket and its engine. */
class Session implements ConnectionHost {
  readonly #socket: Socket;
  readonly #host: RequestHost;
  readonly #clock: Clock;
  readonly #connection: Connection;
  readonly #stallTimeoutMs: number;
  /** Resolved when all requests are over and what was answered is with the socket. */
  readonly #over = Promise.withResolvers<void>();
  #isFlushPlanned = false;
  #isEnding = false;
  /** Until the socket is cut, once its end was written. */
  #cutting: NodeJS.Timeout | undefined;
  readonly #flushLater = (): void => {
    this.#isFlushPlanned = false;
    this.#flush();
  };

  constructor(socket: Socket, host: RequestHost, limits: Limits, slabs: SlabPool, clock: Clock, onClosed: () => void) {
    this.#socket = socket;
    this.#host = host;
    this.#clock = clock;
    this.#stallTimeoutMs = limits.stallTimeoutMs;
    this.#connection = new Connection(this, limits, slabs, clock.monotonicMs());
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("drain", () => this.#onDrain());
    socket.on("end", () => this.#connection.abort());
    // An error is followed by "close", and a client that goes away is no news.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      // A timer that waits on would keep the connection's memory for as long.
      clearTimeout(this.#cutting);
      this.#connection.abort();
      this.#over.resolve();
      onClosed();
    });
  }

  onRequest(stream: ServerStream): StreamHandler {
    return this.#host.onRequest(stream);
  }

  onFault(error: unknown): void {
    this.#host.onFault(error);
  }

  /** Flushes at the end of the turn: what many handlers answer in one turn leaves in one write. */
  onOutput(): void {
    this.#planFlush("tick");
  }

  start(firstBytes: Buffer | undefined): void {
    if (firstBytes === undefined) this.#flush();
    else this.#receive(firstBytes);
  }

  look(): void {
    this.#connection.advance(this.#clock.monotonicMs());
    this.#flush();
  }

  drain(): Promise<void> {
    this.#connection.drain(this.#clock.monotonicMs());
    this.#flush();
    return this.#over.promise;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#connection.receive(chunk, this.#clock.monotonicMs());
    this.#flush();
  }

  #onDrain(): void {
    this.#connection.setWritable(true);
    this.#socket.resume();
    this.#flush();
  }

  /** Writes the engine's output, one slab a turn, so that no connection keeps the others waiting. */
  #flush(): void {
    const connection = this.#connection;
    const socket = this.#socket;
    const bytes = connection.output();
    if (bytes !== undefined) {
      const hasRoom = socket.write(bytes);
      connection.settle(socket.writableLength === 0 ? "copied" : "held");
      if (!hasRoom) {
        connection.setWritable(false);
        // Or a client that never reads could make this side owe it without end.
        socket.pause();
      }
    }
    if (connection.hasOutput) this.#planFlush("turn");
    else if (connection.state === "ended") this.#end();
    if (connection.state === "dead") socket.destroy();
  }

  #planFlush(when: "tick" | "turn"): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    if (when === "tick") process.nextTick(this.#flushLater);
    else setImmediate(this.#flushLater);
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#cutAfter(this.#stallTimeoutMs);
    this.#socket.end(() => {
      this.#over.resolve();
      this.#cutAfter(lingerMs);
    });
    this.#socket.resume();
  }

  #cutAfter(ms: number): void {
    clearTimeout(this.#cutting);
    if (!this.#socket.closed) this.#cutting = setTimeout(() => this.#socket.destroy(), ms).unref();
  }
}
