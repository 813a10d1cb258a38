import { uptime } from "node:os";
import type { ClientOptions, OpenChannel } from "./client-options.ts";
import { type Clock, systemClock } from "./clock.ts";
import { GrpcTransport } from "./grpc/grpc-transport.ts";
import type { TlsOptions } from "./grpc/tls-options.ts";
import { IdClient } from "./id-client.ts";
import { checkOptionNames, clientOptionNames } from "./known-options.ts";

export type { TlsOptions };

/** Options of a client on Node. */
export interface NodeClientOptions extends ClientOptions {
  /** Certificates for `https` endpoints. Default: the roots of Node, and no certificate of this client. */
  readonly tls?: TlsOptions;
}

/**
 * Makes a client that speaks gRPC over HTTP/2.
 *
 * @throws RangeError, TypeError, if an option is wrong or Node is older than 22.
 */
export function createNodeClient(options: NodeClientOptions = {}): IdClient {
  checkNodeVersion(process.versions.node);
  checkOptionNames(options, { ...clientOptionNames, tls: true });
  return new IdClient(grpcChannels(options.tls), { clock: nodeClock, ...options });
}

const nodeClock: Clock = { ...systemClock, uptimeMs: () => uptime() * 1_000 };

function grpcChannels(tls: TlsOptions | undefined): OpenChannel {
  return (endpoint) => {
    const transport = new GrpcTransport(endpoint, tls);
    return {
      transport,
      get isOpen() {
        return transport.isOpen;
      },
      second: () => transport.second(),
      close: () => transport.close(),
    };
  };
}

/** @throws TypeError, if Node is older than 22. */
function checkNodeVersion(version: string): void {
  if (Number.parseInt(version) < 22)
    throw new TypeError(`@snowlane/client needs Node 22 or later; this is ${version}.`);
}
