import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { CrossOrigin } from "../../../src/server/call/cors.ts";
import { ConnectError } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnectionServer } from "../../../src/server/http/connection-server.ts";
import { bindListener } from "../../../src/server/listen/listener.ts";
import type { TlsFiles } from "../../../src/server/listen/tls.ts";

/** The server's own port, sniffing, TLS and HTTP/2, in front of something that answers every path. */
export interface LateServer extends AsyncDisposable {
  readonly port: number;
  readonly faults: readonly unknown[];
}

async function* hello(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("hello");
}

/** Reads the request to its end, waits a little, and answers with five bytes. */
async function answerLate({ body }: UniversalServerRequest): Promise<UniversalServerResponse> {
  for await (const _ of body as AsyncIterable<Uint8Array>);
  await sleep(20);
  return { status: 200, header: new Headers({ "content-type": "text/plain" }), body: hello() };
}

/** A caller that goes away in the middle of its body is not a fault. */
function dispatch(request: UniversalServerRequest): Promise<UniversalServerResponse> {
  return answerLate(request).catch(() => ({ status: 499 }));
}

/** Serves on a free port of loopback until disposed. */
export async function startLateServer(http2: "node" | "engine", tls?: TlsFiles): Promise<LateServer> {
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const { signal: shutdownSignal } = new AbortController();
  const connections = createConnectionServer(
    {
      dispatch,
      hotMethods: [],
      crossOrigin: new CrossOrigin([]),
      guard: undefined,
      toError: (error) => ConnectError.from(error),
      shutdownSignal,
    },
    {
      http2,
      hostCheck: undefined,
      trustedProxies: undefined,
      http2Limits: {},
      tls,
      stallTimeoutMs: 30_000,
      drainTimeoutMs: 1_000,
      onFault,
    },
  );
  const listener = await bindListener(
    { host: "127.0.0.1", port: 0 },
    {
      connectionsMax: 10_000,
      connectionsPerSecond: 10_000,
      onFault,
    },
  );
  listener.accept(connections.admit);
  return {
    port: listener.address.port,
    faults,
    [Symbol.asyncDispose]: async () => {
      connections.close();
      await listener.close(0);
    },
  };
}
