import { refuseCut } from "./http2-wire.ts";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { systemClock } from "../../../src/clock/clock.ts";
import { encodeFields } from "../../../src/http2/hpack/encoder.ts";
import { createLimits, type Limits } from "../../../src/http2/limits.ts";
import type { ServerStream, StreamHandler } from "../../../src/http2/stream.ts";
import { Http2Sockets } from "../../../src/server/http/http2-sockets.ts";

/** The engine on a plain port of loopback, without sniffing. */
export interface Http2TestServer extends AsyncDisposable {
  readonly port: number;
  readonly sockets: Http2Sockets;
  readonly faults: unknown[];
}

/** Serves `onRequest` until disposed. */
export async function startHttp2TestServer(
  onRequest: (stream: ServerStream) => StreamHandler,
  limits: Partial<Limits> = {},
): Promise<Http2TestServer> {
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const host = { onRequest, onCutRequest: refuseCut, onFault };
  const sockets = new Http2Sockets(host, createLimits(limits), systemClock);
  const server = createServer({ noDelay: true }, (socket: Socket) => sockets.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    faults,
    [Symbol.asyncDispose]: async () => {
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const jsonHead = encodeFields([
  [":status", "200"],
  ["content-type", "application/json"],
]);

/** Answers with the request's path, its fields and the length of its body, as JSON. */
export function describingHandler(): StreamHandler {
  let bodyBytes = 0;
  return {
    onData: (stream, _bytes, start, end) => {
      bodyBytes += end - start;
      stream.consume(end - start);
    },
    onEnd: (stream) => {
      const fields = stream.head.fields.map(({ name, value }) => [name, value]);
      const { method, path } = stream.head;
      stream.respond(jsonHead, "body");
      stream.write(Buffer.from(JSON.stringify({ method, path, fields, bodyBytes })));
      stream.end();
    },
  };
}
