import { createServer as createHttp1Server, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { findFreePort } from "./free-port.ts";

/** Answers a request of either protocol. */
export type RequestHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** A server of HTTP/2 and HTTP/1.1 on one cleartext port, which can be killed and started again. */
export class CleartextServer {
  readonly #http1;
  readonly #http2;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #port = 0;
  /** Connections that were taken so far. */
  acceptedCount = 0;

  /** @param streamsMax - How many requests a connection of HTTP/2 may have at a time. */
  constructor(handler: RequestHandler, streamsMax = 2 ** 32 - 1) {
    this.#http1 = createHttp1Server(handler);
    this.#http2 = createHttp2Server({ settings: { maxConcurrentStreams: streamsMax } }, handler);
    this.#http2.on("session", (session) => {
      this.#sessions.add(session);
      session.on("close", () => this.#sessions.delete(session));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens: on a free port the first time, on the same one after a {@link kill}. */
  async start(): Promise<this> {
    const server = createServer((socket) => this.#accept(socket));
    this.#port ||= await findFreePort();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#server = server;
    return this;
  }

  /** Cuts every connection and stops listening, as a crash does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  /** Sends GOAWAY to every connection of HTTP/2: calls that run are answered, others need a new one. */
  goAway(): void {
    for (const session of this.#sessions) session.close();
  }

  /** Gives a connection to the server of its protocol: HTTP/2 begins with `PRI`. */
  #accept(socket: Socket): void {
    this.acceptedCount += 1;
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("readable", () => {
      const begin = socket.read() as Buffer | null;
      if (begin === null) return;
      socket.unshift(begin);
      const server = begin.subarray(0, 3).toString() === "PRI" ? this.#http2 : this.#http1;
      server.emit("connection", socket);
    });
  }
}
