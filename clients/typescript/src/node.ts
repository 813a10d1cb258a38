import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { ClientOptions, OpenChannel } from "./client-options.ts";
import { IdClient } from "./id-client.ts";

/** Certificates, as PEM. */
export interface TlsOptions {
  /** Whom to trust. Default: the roots that Node carries. */
  readonly ca?: string;
  /** This client's certificate and its key, for mutual TLS. */
  readonly cert?: string;
  readonly key?: string;
}

/** What a client on Node may be told. */
export interface NodeClientOptions extends ClientOptions {
  readonly tls?: TlsOptions;
}

/**
 * Makes a client that speaks gRPC over HTTP/2.
 *
 * @throws RangeError, TypeError, if an option is wrong.
 */
export function createNodeClient(options: NodeClientOptions = {}): IdClient {
  return new IdClient(grpcChannels(options.tls), options);
}

function grpcChannels(tls: TlsOptions | undefined): OpenChannel {
  return (endpoint) => {
    const nodeOptions = { ...tls };
    const sessionManager = new Http2SessionManager(endpoint, { pingIntervalMs: 30_000 }, nodeOptions);
    const transport = createGrpcTransport({ baseUrl: endpoint, sessionManager, nodeOptions });
    return { transport, close: () => sessionManager.abort() };
  };
}
