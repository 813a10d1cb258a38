import { createServer as createHttp1Server, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { systemClock } from "../../clock/clock.ts";
import { spreadAge } from "../../http2/spread-age.ts";
import type { Application } from "../call/application.ts";
import { handshakeTimeoutMs, limitHandshake } from "../listen/handshake-limit.ts";
import { sniff } from "../listen/sniff.ts";
import { type AlpnProtocol, createTlsAcceptor } from "../listen/tls.ts";
import { CallCounter } from "./call-counter.ts";
import { createEngineHttp2 } from "./engine-http2.ts";
import type { ConnectionOptions } from "./http2-server.ts";
import { createHotHttp1, type ServeHttp1 } from "./hot-http1.ts";
import { createExchangeServer } from "./node-exchange.ts";
import { withHostCheck } from "./named-http1.ts";
import { createNodeHttp2 } from "./node-http2.ts";
import { headerBytesMax, headerCountMax, idleTimeoutMs } from "./node-limits.ts";
import { peerOfRequest } from "./socket-peer.ts";
import { onlySound, refuseUnreadable } from "./sound-http1.ts";

/** Serves connections that the listener accepts. */
export interface ConnectionServer {
  /** Takes over a fresh connection. */
  readonly admit: (socket: Socket) => void;
  /**
   * Closes idle connections, and tells the others that no new calls are accepted (GOAWAY, Connection: close). Resolves
   * when no call is in flight; never rejects. Can be called again, to wait again.
   */
  readonly drain: () => Promise<void>;
  /** Counts its connections. */
  readonly connections: () => ConnectionsStatus;
  /** Checks at once whether the files of TLS have changed. */
  readonly look: () => void;
  /** Stops the timers. The listener closes the connections that it accepted. */
  readonly close: () => void;
}

/** A snapshot for metrics. */
export interface ConnectionsStatus {
  readonly http1: number;
  readonly http2: number;
  /** TLS handshakes that failed, since the start. */
  readonly refusedHandshakes: number;
  /** When the certificate that is in use ends: Unix milliseconds. Undefined in cleartext. */
  readonly tlsExpiresMs: number | undefined;
}

/**
 * How often node:http checks the time limits of its connections; its default of 30 seconds lets a slow caller stay that
 * much longer.
 */
const lookMs = 2_000;

/** HTTP/1.1 by node:http, HTTP/2 by either server, distinguished by the first bytes. */
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
    onlySound(aged(checkedHosts(createHotHttp1(application, options, calls, serve), application, options), options)),
  );
  http1.maxHeadersCount = headerCountMax;
  http1.on("clientError", refuseUnreadable);
  // Starts the check of its timeouts, which a server that never listens itself does not begin.
  http1.emit("listening");
  const http2 =
    options.http2 === "engine" ? createEngineHttp2(application, options) : createNodeHttp2(serve, options, calls);
  const open = { http1: 0, http2: 0 };
  let refusedHandshakes = 0;
  const serveSocket = (socket: Socket, isHttp2: boolean): void => {
    const protocol = isHttp2 ? "http2" : "http1";
    open[protocol] += 1;
    socket.once("close", () => (open[protocol] -= 1));
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    if (isHttp2) http2.accept(socket);
    else http1.emit("connection", socket);
  };
  const tls =
    options.tls === undefined
      ? undefined
      : createTlsAcceptor(options.tls, {
          onSecure: admitSecure(serveSocket),
          onChange: options.onTlsChange,
          onFault: options.onTlsFault ?? options.onFault,
          onRefused: (error, address) => {
            refusedHandshakes += 1;
            options.onRefusedHandshake?.(error, address);
          },
        });
  return {
    admit: tls?.admit ?? ((socket) => sniff(socket, (isHttp2) => serveSocket(socket, isHttp2))),
    drain: async () => {
      const drained = calls.drain();
      http1.closeIdleConnections();
      await Promise.all([drained, http2.drain()]);
    },
    connections: () => ({ ...open, refusedHandshakes, tlsExpiresMs: tls?.expiresMs() }),
    look: () => tls?.look(),
    close: () => {
      tls?.close();
      http1.close();
      http2.close();
    },
  };
}

/** Closes a connection with the first response after it has reached its age. */
function aged(serve: ServeHttp1, { connectionAgeMs }: ConnectionOptions): ServeHttp1 {
  if (connectionAgeMs === undefined) return serve;
  const endMs = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const nowMs = systemClock.monotonicMs();
    const ofSocketMs = endMs.get(socket) ?? nowMs + spreadAge(connectionAgeMs);
    endMs.set(socket, ofSocketMs);
    if (nowMs >= ofSocketMs) response.setHeader("connection", "close");
    serve(request, response);
  };
}

/** Checks the hosts of requests in cleartext; over TLS, the name was in the certificate. */
function checkedHosts(serve: ServeHttp1, { toError }: Application, options: ConnectionOptions): ServeHttp1 {
  const { hostCheck, tls, trustedProxies } = options;
  if (hostCheck === undefined || tls !== undefined) return serve;
  const addressOf = (request: IncomingMessage): string => peerOfRequest(request, trustedProxies).remoteAddress;
  return withHostCheck(serve, { hostCheck, toError, addressOf });
}

/** Without ALPN, the first bytes show the protocol, as without TLS. */
function admitSecure(serve: (socket: Socket, isHttp2: boolean) => void) {
  return (socket: Socket, protocol: AlpnProtocol): void => {
    socket.on("error", () => socket.destroy());
    if (protocol !== undefined) {
      serve(socket, protocol === "h2");
      return;
    }
    limitHandshake(socket);
    sniff(socket, (isHttp2) => serve(socket, isHttp2));
  };
}
