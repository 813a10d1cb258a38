import { lookup } from "node:dns/promises";
import type { ClientOptions, OpenChannel } from "./client-options.ts";
import { GrpcTransport } from "./grpc/grpc-transport.ts";
import type { TlsOptions } from "./grpc/tls-options.ts";
import { IdClient } from "./id-client.ts";
import { checkOptionNames, clientOptionNames } from "./known-options.ts";
import { nodeClock } from "./node-clock.ts";

export type { TlsOptions };

/** Options of a client on Node. */
export interface NodeClientOptions extends ClientOptions {
  /**
   * Certificates for `https` endpoints, or a function that returns them for each new connection, so that they may
   * change. Default: the roots of Node, and no certificate of this client.
   */
  readonly tls?: TlsOptions | (() => TlsOptions);
}

/**
 * Makes a client that speaks gRPC over HTTP/2.
 *
 * @throws RangeError, TypeError, if an option is wrong or Node is older than 22.
 */
export function createNodeClient(options: NodeClientOptions = {}): IdClient {
  checkNodeVersion(process.versions.node);
  checkOptionNames(options, { ...clientOptionNames, tls: true });
  return new IdClient(grpcChannels(options.tls), { clock: nodeClock, ...options }, lookUpHost);
}

/** Returns the addresses of a name in the order of the system. */
async function lookUpHost(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);
}

/** Makes channels of gRPC over HTTP/2. */
export function grpcChannels(tls?: NodeClientOptions["tls"]): OpenChannel {
  return (endpoint, details) => {
    const transport = new GrpcTransport(endpoint, tls, details);
    return {
      transport,
      get isOpen() {
        return transport.isOpen;
      },
      second: () => transport.second(),
      retire: () => transport.retire(),
      close: () => transport.close(),
    };
  };
}

/** @throws TypeError, if Node is older than 22. */
function checkNodeVersion(version: string): void {
  if (Number.parseInt(version) < 22)
    throw new TypeError(`@snowlane/client needs Node 22 or later; this is ${version}.`);
}
