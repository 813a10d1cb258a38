import type { ConnectError } from "@connectrpc/connect";
import { systemClock } from "../../clock/clock.ts";
import { createLimits } from "../../http2/limits.ts";
import type { ServerStream, StreamHandler } from "../../http2/stream.ts";
import type { Application } from "../call/application.ts";
import { FairQueue } from "./fair-queue.ts";
import { refuseStream, serveStream } from "./engine-exchange.ts";
import { encodeFields } from "../../http2/hpack/encoder.ts";
import { HotCalls } from "../call/hot-calls.ts";
import { envelopesOf } from "../call/hot-route.ts";
import type { ConnectionOptions, Http2Server } from "./http2-server.ts";
import { Http2Sockets } from "./http2-sockets.ts";
import { ownerOf, peerOf } from "./socket-peer.ts";

/** How long calls that were told to end may take to send their errors, before the engine cuts the rest. */
const farewellMs = 1_000;

/** HTTP/2 by the engine of src/http2: hot methods on bytes, everything else through the dispatch. */
export function createEngineHttp2(application: Application, options: ConnectionOptions): Http2Server {
  const { dispatch, hotMethods, crossOrigin, guard, toError, shutdownSignal, onTurn } = application;
  const { stallTimeoutMs, drainTimeoutMs, connectionAgeMs, http2Limits, trustedProxies, onFault } = options;
  const expensiveCalls = new FairQueue();
  const exchangeOptions = { dispatch, stallTimeoutMs, expensiveCalls, onFault };
  const others = (stream: ServerStream): StreamHandler => serveStream(stream, exchangeOptions);
  const hot = new HotCalls<Buffer, ServerStream>({
    methods: hotMethods,
    envelopes: envelopesOf["HTTP/2"],
    crossOrigin,
    encode: encodeFields,
    dateClock: systemClock,
    others,
    clock: systemClock,
    stallTimeoutMs,
    guard,
    queue: (stream, begin) => expensiveCalls.add(ownerOf(stream), begin),
    peerOf,
    toError,
  });
  shutdownSignal.addEventListener("abort", () => hot.endAll(shutdownSignal.reason as ConnectError));
  const limits = createLimits({
    ...http2Limits,
    ...(connectionAgeMs === undefined ? {} : { ageMaxMs: connectionAgeMs }),
    stallTimeoutMs,
    // Calls that are still open at the drain timeout are told why they end; only then may their connection be cut.
    drainTimeoutMs: drainTimeoutMs + farewellMs,
  });
  const host = { onRequest: (stream: ServerStream) => hot.onRequest(stream), onCutRequest: refuseStream, onFault };
  return new Http2Sockets(host, limits, systemClock, { onTurn, trustedProxies });
}
