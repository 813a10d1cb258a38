import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { ServerAccess } from "./server-access.ts";

/** Makes a transport that calls a server over gRPC, with the caller's credentials. */
export function transportTo({ url, tls, authorization }: ServerAccess): Transport {
  return createGrpcTransport({
    baseUrl: url,
    nodeOptions: tls,
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
