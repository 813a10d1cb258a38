import type { Socket } from "node:net";
import type { Clock } from "../../clock/clock.ts";
import { Connection } from "../../http2/connection.ts";
import type { Limits } from "../../http2/limits.ts";
import { SlabPool } from "../../http2/output-buffer.ts";
import type { RequestHost } from "../../http2/streams.ts";
import type { ServerStream, StreamHandler } from "../../http2/stream.ts";
import { SocketPeer } from "./socket-peer.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";
import { Turns } from "./turns.ts";

/**
 * How often the time limits of a twentieth of the connections are checked, so that each connection has its turn once a
 * second.
 */
const lookMs = 50;
const looksAround = 20;
/**
 * How long a socket is still read after its end was written. Closing it with unread input would make the kernel reset
 * it, and the client might never see the reason that GOAWAY gives.
 */
const lingerMs = 1_000;
/** The pause after the first chunk that is dropped; it doubles with each further one. */
const dropPauseMs = 50;
/** Bytes of a connection that are read at once in one turn, whatever else waits: some twenty calls of NextId. */
const pieceBytes = 1_024;

/** The state that all connections of a server share. */
interface Shared {
  readonly host: RequestHost;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly slabs: SlabPool;
  readonly turns: Turns;
  readonly onTurn: OnTurn | undefined;
  readonly trustedProxies: TrustedProxies | undefined;
  /** Chunks until the next one is timed. */
  untimedChunks: number;
}

/**
 * Receives the time that some of the chunks took, in milliseconds, with the write that each caused. Returns false if
 * the time was of no use: then the next chunk is timed, too.
 */
type OnTurn = (tookMs: number) => boolean;

/** How turns are timed, and which proxies may name their callers. A test may leave out both. */
interface SocketsOptions {
  /** Called with the time of some chunks. Default: no chunk is timed. */
  readonly onTurn?: OnTurn | undefined;
  /** The proxies that may name their callers. Default: none. */
  readonly trustedProxies?: TrustedProxies | undefined;
}

/** One chunk in this many is timed: reading the clock for each would cost a tenth of a call (docs/adr/0140). */
const timedEvery = 16;

/** Serves HTTP/2 on sockets (net.Socket or TLSSocket) by the engine of src/http2. */
export class Http2Sockets {
  readonly #shared: Shared;
  readonly #sessions = new Set<Session>();
  /** An iterator over the connections: it includes connections that open meanwhile, and leaves out closed ones. */
  #round = this.#sessions.values();
  #looking: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(host: RequestHost, limits: Limits, clock: Clock, { onTurn, trustedProxies }: SocketsOptions = {}) {
    const turns = new Turns(clock);
    this.#shared = { host, limits, clock, slabs: new SlabPool(), turns, onTurn, trustedProxies, untimedChunks: 1 };
  }

  /** Connections that are not closed. */
  get connectionCount(): number {
    return this.#sessions.size;
  }

  /** Serves one connection. */
  accept(socket: Socket): void {
    // After the sockets were read: if this process was paused for long, the bytes that have arrived meanwhile count
    // first.
    this.#looking ??= setInterval(() => setImmediate(() => this.#look()), lookMs).unref();
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

  /** Checks some of the connections: ten thousand at once would delay every call by 20 ms. */
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

/** The host of one connection: the one of all connections, with the peer of this one. */
class ConnectionHost implements RequestHost {
  readonly connection: SocketPeer;
  readonly #host: RequestHost;

  constructor(host: RequestHost, peer: SocketPeer) {
    this.#host = host;
    this.connection = peer;
  }

  onRequest(stream: ServerStream): StreamHandler {
    return this.#host.onRequest(stream);
  }

  onCutRequest(stream: ServerStream): StreamHandler {
    return this.#host.onCutRequest(stream);
  }

  get onFault(): RequestHost["onFault"] {
    return this.#host.onFault;
  }
}

/**
 * One connection: moves bytes between its socket and its engine. docs/adr/0042 says why a chunk causes one write,
 * docs/adr/0108 why cancels slow it down.
 */
class Session {
  readonly #socket: Socket;
  readonly #shared: Shared;
  readonly #connection: Connection;
  /** Resolved when all requests are over and the socket has their answers. */
  readonly #over = Promise.withResolvers<void>();
  /** Bytes that wait for their turn. The socket is not read meanwhile. */
  #waiting: Buffer = nothing;
  #hasTurns = false;
  /** Bytes that may still be read at once in the turn of this number. TLS gives each of its records alone. */
  #atOnceBytes = pieceBytes;
  #turn = -1;
  /** The client will send no more. */
  #isRead = false;
  /** The socket takes no bytes. */
  #isBlocked = false;
  /** Runs until the socket is read again; it is paused because the client cancels too many requests. */
  #resting: NodeJS.Timeout | undefined;
  #isFlushPlanned = false;
  #isEnding = false;
  #isLeaving = false;
  #dropPauseMs = dropPauseMs;
  /** Runs until the socket is cut, once its end was written. */
  #cutting: NodeJS.Timeout | undefined;
  readonly #takePiece = (): boolean => this.#receivePiece();
  readonly #flushLater = (): void => {
    this.#isFlushPlanned = false;
    this.#flush();
  };

  constructor(socket: Socket, shared: Shared, onClosed: () => void) {
    this.#socket = socket;
    this.#shared = shared;
    const { host, limits, slabs, clock, trustedProxies } = shared;
    // Flushes at the end of the turn, so that the answers of many handlers leave in one write.
    const ownHost = new ConnectionHost(host, new SocketPeer(socket, trustedProxies));
    this.#connection = new Connection(ownHost, () => this.#planFlush("tick"), limits, slabs, clock.monotonicMs());
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("drain", () => this.#onDrain());
    // Otherwise requests that wait could not be answered, because the other half would be closed with the first.
    socket.allowHalfOpen = true;
    socket.on("end", () => {
      this.#isRead = true;
      // The connection has already ended.
      if (this.#waiting.length === 0 && !this.#isEnding) this.#leave();
    });
    // An error is followed by "close", and a client that goes away needs no log line.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      // A timer that runs on would keep the connection's memory for as long.
      clearTimeout(this.#cutting);
      clearTimeout(this.#resting);
      this.#waiting = nothing;
      this.#connection.abort();
      this.#over.resolve();
      onClosed();
    });
  }

  /** Requests that came with the client's first bytes are answered together with the server's preface. */
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
      const startMs = this.#give(chunk);
      this.#flush();
      this.#time(startMs);
      return;
    }
    this.#waiting = chunk;
    this.#takeTurns();
    // Otherwise more bytes would arrive, up to 2 MB in one turn.
    if (this.#waiting.length > 0) this.#socket.pause();
  }

  #takeTurns(): void {
    if (this.#hasTurns) return;
    this.#hasTurns = true;
    this.#shared.turns.take(this.#takePiece);
  }

  /** Gives the engine a piece of the waiting bytes, and reads the socket again after the last piece. */
  #receivePiece(): boolean {
    this.#hasTurns = false;
    if (this.#isBlocked || this.#resting !== undefined || this.#socket.destroyed) return false;
    const piece = this.#waiting.subarray(0, pieceBytes);
    this.#waiting = this.#waiting.subarray(pieceBytes);
    this.#time(this.#give(piece));
    // One flush serves all pieces of a turn.
    this.#planFlush("tick");
    this.#hasTurns = this.#waiting.length > 0 && this.#resting === undefined;
    if (!this.#hasTurns) this.#readOn();
    return this.#hasTurns;
  }

  /** Gives the engine bytes, and lets a client that cancels too much wait. @returns When it began. */
  #give(bytes: Buffer): number {
    const startMs = this.#shared.clock.monotonicMs();
    this.#connection.receive(bytes, startMs);
    const { restMs } = this.#connection;
    if (restMs === 0 || this.#resting !== undefined) return startMs;
    this.#socket.pause();
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#readOn();
    }, restMs).unref();
    return startMs;
  }

  #time(startMs: number): void {
    const shared = this.#shared;
    if (shared.onTurn === undefined || --shared.untimedChunks > 0) return;
    const wasWanted = shared.onTurn(shared.clock.monotonicMs() - startMs);
    shared.untimedChunks = wasWanted ? timedEvery : 1;
  }

  /** Takes the bytes that wait, or else reads the socket, unless there is a reason not to. */
  #readOn(): void {
    if (this.#isBlocked || this.#resting !== undefined || this.#socket.destroyed) return;
    if (this.#waiting.length > 0) this.#takeTurns();
    else if (this.#isRead) this.#leave();
    else this.#socket.resume();
  }

  /** The client has gone, or closed its half: answers that are ready are still sent. */
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
    this.#readOn();
    this.#flush();
  }

  /** Writes the engine's output, one slab a turn, so that no connection delays the others. */
  #flush(): void {
    const connection = this.#connection;
    const socket = this.#socket;
    const bytes = connection.output();
    if (bytes !== undefined) {
      const hasRoom = socket.write(bytes);
      connection.onWritten(socket.writableLength === 0 ? "flushed" : "buffered");
      if (!hasRoom) {
        this.#isBlocked = true;
        connection.setWritable(false);
        // Otherwise the output for a client that never reads could grow without end.
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

  /** Reads on and drops the bytes, more and more slowly, because the memory of dropped bytes costs all callers time. */
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
