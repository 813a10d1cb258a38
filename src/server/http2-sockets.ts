import type { Socket } from "node:net";
import type { Clock } from "../clock.ts";
import { Connection, type ConnectionHost } from "../http2/connection.ts";
import type { Limits } from "../http2/limits.ts";
import { SlabPool } from "../http2/outbox.ts";
import type { ServerStream, StreamHandler } from "../http2/stream.ts";
import type { RequestHost } from "../http2/streams.ts";
import { Turns } from "./turns.ts";

/** How often time limits are looked at: those of a twentieth of the connections, so those of each once a second. */
const lookMs = 50;
const looksAround = 20;
/**
 * How long a socket is still read after its end was written. Closing it with unread input would make the kernel reset
 * it, and the client might never see the reason that GOAWAY gives.
 */
const lingerMs = 1_000;
/** How long it is not read after the first chunk of that, and twice as long after each further one. */
const dropPauseMs = 50;
/** What is read at once of a connection in one turn, whatever else waits: some twenty calls of NextId. */
const pieceBytes = 1_024;

/** What serves the requests, and hears of callers that break the rules. */
export interface SocketsHost extends RequestHost {
  /** A caller from this address broke a rule. Called once for each connection. */
  onViolation(remoteAddress: string): void;
}

/** What all connections of a server share. */
interface Shared {
  readonly host: SocketsHost;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly slabs: SlabPool;
  readonly turns: Turns;
}

/** Serves HTTP/2 on sockets (net.Socket or TLSSocket) by the engine of src/http2. */
export class Http2Sockets {
  readonly #shared: Shared;
  readonly #sessions = new Set<Session>();
  /** Goes through the connections as they are by then: those that come are met, those that went are not. */
  #round = this.#sessions.values();
  #looking: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(host: SocketsHost, limits: Limits, clock: Clock) {
    this.#shared = { host, limits, clock, slabs: new SlabPool(), turns: new Turns(clock) };
  }

  /** Connections that are not closed. */
  get connectionCount(): number {
    return this.#sessions.size;
  }

  /** Serves one connection. */
  accept(socket: Socket): void {
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
    const session: Session = new Session(socket, this.#shared, () => this.#sessions.delete(session));
    this.#sessions.add(session);
    session.start();
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

  /** Ten thousand at once would hold up every call for 20 ms. */
  #look(): void {
    for (let left = Math.ceil(this.#sessions.size / looksAround); left > 0; left--) {
      let next = this.#round.next();
      if (next.done === true) {
        this.#round = this.#sessions.values();
        next = this.#round.next();
      }
      next.value?.look();
    }
  }
}

const nothing: Buffer = Buffer.alloc(0);

/** One connection: moves bytes between its socket and its engine. */
class Session implements ConnectionHost {
  readonly #socket: Socket;
  /** Asked for at once: a socket that was closed does not know it. */
  readonly #remoteAddress: string;
  readonly #shared: Shared;
  readonly #connection: Connection;
  /** Resolved when all requests are over and what was answered is with the socket. */
  readonly #over = Promise.withResolvers<void>();
  /** What came and waits for its turn. The socket is not read meanwhile. */
  #waiting: Buffer = nothing;
  #hasTurns = false;
  /** What may still be read at once in the turn of this number. TLS gives each of its records alone. */
  #atOnceBytes = pieceBytes;
  #turn = -1;
  /** The client will send no more. */
  #isRead = false;
  /** The socket takes no bytes. */
  #isBlocked = false;
  #isFlushPlanned = false;
  #isEnding = false;
  #isLeaving = false;
  #dropPauseMs = dropPauseMs;
  /** Until the socket is cut, once its end was written. */
  #cutting: NodeJS.Timeout | undefined;
  readonly #takePiece = (): boolean => this.#receivePiece();
  readonly #flushLater = (): void => {
    this.#isFlushPlanned = false;
    this.#flush();
  };

  constructor(socket: Socket, shared: Shared, onClosed: () => void) {
    this.#socket = socket;
    this.#remoteAddress = socket.remoteAddress ?? "";
    this.#shared = shared;
    this.#connection = new Connection(this, shared.limits, shared.slabs, shared.clock.monotonicMs());
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("drain", () => this.#onDrain());
    // Or what was read and waits could not be answered: the other half would be closed with the first.
    socket.allowHalfOpen = true;
    socket.on("end", () => {
      this.#isRead = true;
      // What ended first has said its last word.
      if (this.#waiting.length === 0 && !this.#isEnding) this.#leave();
    });
    // An error is followed by "close", and a client that goes away is no news.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      // A timer that waits on would keep the connection's memory for as long.
      clearTimeout(this.#cutting);
      this.#waiting = nothing;
      this.#connection.abort();
      this.#over.resolve();
      onClosed();
    });
  }

  onRequest(stream: ServerStream): StreamHandler {
    return this.#shared.host.onRequest(stream);
  }

  onViolation(): void {
    this.#shared.host.onViolation(this.#remoteAddress);
  }

  onFault(error: unknown): void {
    this.#shared.host.onFault(error);
  }

  /** Flushes at the end of the turn: what many handlers answer in one turn leaves in one write. */
  onOutput(): void {
    this.#planFlush("tick");
  }

  /** What was sent with the client's first bytes is answered together with the greeting. */
  start(): void {
    this.#planFlush("turn");
  }

  look(): void {
    this.#connection.advance(this.#shared.clock.monotonicMs());
    this.#flush();
  }

  drain(): Promise<void> {
    this.#connection.drain(this.#shared.clock.monotonicMs());
    this.#flush();
    return this.#over.promise;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isEnding) {
      this.#drop(chunk);
      return;
    }
    const turn = this.#shared.turns.number;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#atOnceBytes = pieceBytes;
    }
    if (chunk.length <= this.#atOnceBytes) {
      this.#atOnceBytes -= chunk.length;
      this.#connection.receive(chunk, this.#shared.clock.monotonicMs());
      this.#flush();
      return;
    }
    this.#waiting = chunk;
    this.#takeTurns();
    // Or more would go on coming, up to 2 MB in one turn.
    if (this.#waiting.length > 0) this.#socket.pause();
  }

  #takeTurns(): void {
    if (this.#hasTurns) return;
    this.#hasTurns = true;
    this.#shared.turns.take(this.#takePiece);
  }

  /** Gives the engine a piece of what waits, and lets the socket go on after the last. */
  #receivePiece(): boolean {
    this.#hasTurns = false;
    if (this.#isBlocked || this.#socket.destroyed) return false;
    const piece = this.#waiting.subarray(0, pieceBytes);
    this.#waiting = this.#waiting.subarray(pieceBytes);
    this.#connection.receive(piece, this.#shared.clock.monotonicMs());
    // Once for all pieces of a turn.
    this.#planFlush("tick");
    this.#hasTurns = this.#waiting.length > 0;
    if (this.#hasTurns) return true;
    if (this.#isRead) this.#leave();
    else if (this.#socket.isPaused()) this.#socket.resume();
    return false;
  }

  /** The client has gone, or closed its half: what is answered by now still leaves. */
  #leave(): void {
    this.#isLeaving = true;
    this.#flush();
    this.#connection.abort();
    this.#cutAfter(this.#shared.limits.stallTimeoutMs);
    this.#socket.end();
  }

  #onDrain(): void {
    this.#isBlocked = false;
    this.#connection.setWritable(true);
    if (this.#waiting.length > 0) this.#takeTurns();
    else this.#socket.resume();
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
        this.#isBlocked = true;
        connection.setWritable(false);
        // Or a client that never reads could make this side owe it without end.
        socket.pause();
      }
    }
    if (connection.hasOutput) this.#planFlush("turn");
    else if (connection.state === "ended") this.#end();
    if (connection.state === "dead" && !this.#isLeaving) socket.destroy();
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
    this.#waiting = nothing;
    this.#cutAfter(this.#shared.limits.stallTimeoutMs);
    this.#socket.end(() => {
      this.#over.resolve();
      this.#cutAfter(lingerMs);
    });
    this.#socket.resume();
  }

  /** Reads on without listening, more and more slowly: the memory of what nobody looks at costs everybody time. */
  #drop(chunk: Buffer): void {
    if (chunk.length <= pieceBytes) return;
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), this.#dropPauseMs).unref();
    this.#dropPauseMs *= 2;
  }

  #cutAfter(ms: number): void {
    clearTimeout(this.#cutting);
    if (!this.#socket.closed) this.#cutting = setTimeout(() => this.#socket.destroy(), ms).unref();
  }
}
