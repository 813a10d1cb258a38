import type { ConnectError } from "@connectrpc/connect";
import { systemClock } from "../clock.ts";
import { createLimits } from "../http2/limits.ts";
import type { ServerStream, StreamHandler } from "../http2/stream.ts";
import type { Application } from "./application.ts";
import { DearQueue } from "./dear-queue.ts";
import { serveStream } from "./engine-exchange.ts";
import { HotCalls } from "./hot-calls.ts";
import type { ConnectionOptions, Http2Server } from "./http-servers.ts";
import { Http2Sockets } from "./http2-sockets.ts";

/** How long calls that were told to end may take to say so, before the engine cuts what is left. */
const farewellMs = 1_000;

/** HTTP/2 by the engine of src/http2: hot methods on bytes, everything else through the dispatch. */
export function createEngineHttp2(application: Application, options: ConnectionOptions): Http2Server {
  const { dispatch, hotMethods, guards, toError, shutdownSignal } = application;
  const { streamsMax, stallTimeoutMs, drainTimeoutMs, http2Limits, onFault, onViolation } = options;
  const exchangeOptions = { dispatch, stallTimeoutMs, dear: new DearQueue(), onFault };
  const others = (stream: ServerStream): StreamHandler => serveStream(stream, exchangeOptions);
  const hot = new HotCalls({ methods: hotMethods, others, clock: systemClock, stallTimeoutMs, guards, toError });
  shutdownSignal.addEventListener("abort", () => hot.endAll(shutdownSignal.reason as ConnectError));
  const limits = createLimits({
    ...http2Limits,
    concurrentStreamsMax: streamsMax,
    stallTimeoutMs,
    // Calls that are still open at the drain timeout are told why they end; only then may their connection be cut.
    drainTimeoutMs: drainTimeoutMs + farewellMs,
  });
  const host = { onRequest: (stream: ServerStream) => hot.onRequest(stream), onFault, onViolation };
  const sockets = new Http2Sockets(host, limits, systemClock);
  return {
    accept: (socket) => sockets.accept(socket),
    drain: () => sockets.drain(),
    close: () => sockets.close(),
  };
}
