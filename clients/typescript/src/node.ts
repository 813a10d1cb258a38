import { lookup } from "node:dns/promises";
import { clientOptionKinds, type ClientOptions, type OpenChannel } from "./client-options.ts";
import { GrpcTransport } from "./grpc/grpc-transport.ts";
import type { TlsOptions } from "./grpc/tls-options.ts";
import { IdClient } from "./id-client.ts";
import { checkOptionKinds, kinds, type OptionKind, type OptionKinds } from "./known-options.ts";
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
  checkOptionKinds(options, { ...clientOptionKinds, tls: kinds.checkedElsewhere });
  const { tls, ...others } = options;
  const certificates = typeof tls === "function" ? () => checkTls(tls()) : checkTls(tls);
  return new IdClient(grpcChannels(certificates), { clock: nodeClock, ...others }, lookUpHost);
}

/** Bytes are accepted, too, because that is how a file is read. */
const pem: OptionKind = {
  what: "PEM",
  accepts: (value) => typeof value === "string" || value instanceof Uint8Array,
};
const tlsOptionKinds: OptionKinds<TlsOptions> = { ca: pem, cert: pem, key: pem };

/** Refuses what are not certificates: with a misspelt name, Node would trust its own roots. @throws TypeError. */
function checkTls(tls: TlsOptions = {}): TlsOptions {
  checkOptionKinds(tls, tlsOptionKinds);
  return tls;
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
