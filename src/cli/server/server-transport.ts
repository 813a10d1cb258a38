import { connect } from "node:net";
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { ServerAccess } from "./server-access.ts";

/** Makes a transport that calls a server over gRPC, with the caller's credentials. */
export function transportTo({ url, socketPath, tls, authorization }: ServerAccess): Transport {
  const bySocket = socketPath === undefined ? {} : { createConnection: () => connect(socketPath) };
  return createGrpcTransport({
    baseUrl: socketPath === undefined ? url : "http://localhost",
    nodeOptions: { ...tls, ...bySocket },
    interceptors:
      authorization === undefined
        ? []
        : [
            (next) => (request) => {
              request.header.set("authorization", authorization);
              return next(request);
            },
          ],
  });
}
