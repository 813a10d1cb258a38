import { connect } from "node:net";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { ServerAccess } from "./server-access.ts";

/**
 * Makes a transport that calls a server over gRPC, with the caller's credentials. A connection on which a call times
 * out is given up: its server may have frozen behind a balancer, which leads a new connection to another server.
 */
export function transportTo({ url, socketPath, tls, authorization }: ServerAccess): Transport {
  const bySocket = socketPath === undefined ? {} : { createConnection: () => connect(socketPath) };
  const baseUrl = socketPath === undefined ? url : "http://localhost";
  const sessionManager = new Http2SessionManager(baseUrl, {}, { ...tls, ...bySocket });
  const giveUpDark: Interceptor = (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      if (ConnectError.from(error).code === Code.DeadlineExceeded) sessionManager.abort();
      throw error;
    }
  };
  const withCredentials: Interceptor = (next) => (request) => {
    if (authorization !== undefined) request.header.set("authorization", authorization);
    return next(request);
  };
  return createGrpcTransport({ baseUrl, sessionManager, interceptors: [giveUpDark, withCredentials] });
}
