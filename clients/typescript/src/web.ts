import { createConnectTransport } from "@connectrpc/connect-web";
import { type ClientOptions, isSocket, type OpenChannel } from "./client-options.ts";
import { IdClient } from "./id-client.ts";

/** Options of a client in a browser. */
export interface WebClientOptions extends ClientOptions {
  /**
   * Where the page is served by Snowlane itself: `location.origin`. From another origin, the server must allow that
   * origin.
   */
  readonly endpoints: readonly string[];
}

/**
 * Makes a client for browsers, and for anything else that has `fetch`: it speaks Connect.
 *
 * @throws RangeError, TypeError, if an option is wrong.
 */
export function createWebClient(options: WebClientOptions): IdClient {
  if (Array.isArray(options.endpoints) && options.endpoints.some(isSocket))
    throw new TypeError("A browser has no Unix sockets: give http:// or https://.");
  return new IdClient(connectChannel, options);
}

const connectChannel: OpenChannel = (endpoint) => ({
  transport: createConnectTransport({ baseUrl: endpoint, useBinaryFormat: true }),
  // Nothing stays open except the connections that the runtime keeps for all uses of fetch.
  close: () => {},
});
