import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { createLimits } from "../../http2/limits.ts";
import { spreadAge } from "../../http2/spread-age.ts";
import { handshakeTimeoutMs } from "../listen/handshake-limit.ts";
import type { CallCounter } from "./call-counter.ts";
import type { ConnectionOptions, Http2Server } from "./http2-server.ts";
import type { ServeExchange } from "./node-exchange.ts";
import { headerBytesMax, headerCountMax, idleTimeoutMs } from "./node-limits.ts";

/** HTTP/2 by node:http2: every call goes through the dispatch. docs/adr/0045 says why it stays beside the engine. */
export function createNodeHttp2(
  serve: ServeExchange,
  { http2Limits, drainTimeoutMs, connectionAgeMs }: ConnectionOptions,
  calls: CallCounter,
): Http2Server {
  const http2 = createHttp2Server(
    {
      maxHeaderListPairs: headerCountMax,
      settings: {
        maxConcurrentStreams: createLimits(http2Limits).concurrentStreamsMax,
        maxHeaderListSize: headerBytesMax,
      },
      unknownProtocolTimeout: handshakeTimeoutMs,
    },
    // Its compatibility API has the members that NodeExchange uses.
    (request, response) => serve(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    let aging: NodeJS.Timeout | undefined;
    if (connectionAgeMs !== undefined)
      aging = setTimeout(() => {
        session.close();
        aging = setTimeout(() => session.destroy(), drainTimeoutMs);
      }, spreadAge(connectionAgeMs));
    session.once("close", () => {
      clearTimeout(aging);
      sessions.delete(session);
    });
    session.setTimeout(idleTimeoutMs, () => session.close());
    if (calls.draining) session.close();
  });
  // A broken connection needs no action here; its streams see the close.
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
