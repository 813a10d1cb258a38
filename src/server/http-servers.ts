import { createServer as createHttp1Server, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "../http2/limits.ts";
import type { Application } from "./application.ts";
import { CallCounter } from "./call-counter.ts";
import { createEngineHttp2 } from "./engine-http2.ts";
import { headerBytesMax, type NodeExchange, serveExchange } from "./node-exchange.ts";
import { sniff } from "./sniff.ts";
import { type AlpnProtocol, createTlsAcceptor, type TlsFiles } from "./tls.ts";

/** What a connection is served with. */
export interface ConnectionOptions {
  /** HTTP/2 streams at once on one connection. */
  readonly streamsMax: number;
  /** How long a reader may take nothing. */
  readonly stallTimeoutMs: number;
  /** How long calls in flight may take once the server, or their connection, drains. For the engine. */
  readonly drainTimeoutMs: number;
  /** Which of the two serves HTTP/2: Node's own, or the engine of src/http2. */
  readonly http2: "node" | "engine";
  /** Absent: cleartext. */
  readonly tls: TlsFiles | undefined;
  /** For the engine. */
  readonly http2Limits: Partial<Limits>;
  /** Called with what a handler or a server itself threw: a fault of ours. */
  readonly onFault: (error: unknown) => void;
  /** Called once for a connection whose caller, from this address, broke a rule of HTTP/2. By the engine. */
  readonly onViolation: (remoteAddress: string) => void;
}

/** Serves connections that somebody else accepts. */
export interface ConnectionServer {
  /** Takes over a fresh connection. */
  readonly admit: (socket: Socket) => void;
  /**
   * Closes what is idle, and tells the rest that no new calls are taken (GOAWAY, Connection: close). Resolves when no
   * call is in flight; never rejects. Can be called again, to wait again.
   */
  readonly drain: () => Promise<void>;
  /** Stops the timers. Connections are closed by whoever accepted them. */
  readonly close: () => void;
}

/** The HTTP/2 part of it. */
export interface Http2Server {
  readonly accept: (socket: Socket) => void;
  readonly drain: () => Promise<void>;
  readonly close: () => void;
}

/**
 * From connecting to the end of a TLS handshake, from there to the first bytes, and from the first bytes of an HTTP/1.1
 * request to its last.
 */
const handshakeTimeoutMs = 10_000;
const headerCountMax = 128;
const idleTimeoutMs = 300_000;
/**
 * How often node:http looks at the times of its connections; its own choice of 30 seconds lets a slow caller stay that
 * much longer.
 */
const lookMs = 2_000;

/** HTTP/1.1 by node:http, HTTP/2 by either server, told apart by the first bytes. */
export function createConnectionServer(application: Application, options: ConnectionOptions): ConnectionServer {
  const calls = new CallCounter();
  const serve = createExchangeServer(application, options, calls);
  const http1 = createHttp1Server(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: handshakeTimeoutMs,
      requestTimeout: handshakeTimeoutMs,
      keepAliveTimeout: idleTimeoutMs,
      connectionsCheckingInterval: lookMs,
    },
    serve,
  );
  http1.maxHeadersCount = headerCountMax;
  // Starts the check of its timeouts, which a server that never listens itself does not begin.
  http1.emit("listening");
  const http2 =
    options.http2 === "engine" ? createEngineHttp2(application, options) : createNodeHttp2(serve, options, calls);
  const serveSocket = (socket: Socket, isHttp2: boolean): void => {
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    if (isHttp2) http2.accept(socket);
    else http1.emit("connection", socket);
  };
  const tls =
    options.tls === undefined ? undefined : createTlsAcceptor(options.tls, admitSecure(serveSocket), options.onFault);
  return {
    admit: tls?.admit ?? ((socket) => sniff(socket, (isHttp2) => serveSocket(socket, isHttp2))),
    drain: async () => {
      const drained = calls.drain();
      http1.closeIdleConnections();
      await Promise.all([drained, http2.drain()]);
    },
    close: () => {
      tls?.close();
      http1.close();
      http2.close();
    },
  };
}

/** What was not agreed on by ALPN is told from the first bytes, as without TLS. */
function admitSecure(serve: (socket: Socket, isHttp2: boolean) => void) {
  return (socket: Socket, protocol: AlpnProtocol): void => {
    socket.on("error", () => socket.destroy());
    if (protocol !== undefined) {
      serve(socket, protocol === "h2");
      return;
    }
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    sniff(socket, (isHttp2) => serve(socket, isHttp2));
  };
}

/** Serves an exchange of node:http or node:http2. */
type ServeExchange = (request: NodeExchange["request"], response: NodeExchange["response"]) => void;

function createExchangeServer(
  { dispatch }: Application,
  { stallTimeoutMs, onFault }: ConnectionOptions,
  calls: CallCounter,
): ServeExchange {
  const exchangeOptions = { dispatch, stallTimeoutMs, isDraining: () => calls.draining };
  return (request, response) => {
    calls.began();
    response.once("close", () => calls.ended());
    serveExchange({ request, response }, exchangeOptions).catch((error: unknown) => {
      onFault(error);
      request.socket.destroy();
    });
  };
}

function createNodeHttp2(serve: ServeExchange, { streamsMax }: ConnectionOptions, calls: CallCounter): Http2Server {
  const http2 = createHttp2Server(
    {
      maxHeaderListPairs: headerCountMax,
      settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: headerBytesMax },
      unknownProtocolTimeout: handshakeTimeoutMs,
    },
    // Its compatibility API has what NodeExchange asks for.
    (request, response) => serve(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(idleTimeoutMs, () => session.close());
    if (calls.draining) session.close();
  });
  // A broken connection is its caller's affair; its streams see the close.
  http2.on("sessionError", () => undefined);
  return {
    accept: (socket) => void http2.emit("connection", socket),
    drain: async () => {
      for (const session of sessions) session.close();
      await calls.drain();
    },
    close: () => void http2.close(),
  };
}
