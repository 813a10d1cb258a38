import { connect } from "node:net";
import { once } from "node:events";
import type { TestServer } from "./test-server.ts";

/** The server behind a proxy. */
export interface ProxyOptions {
  /** `127.0.0.1:PORT` of each server. */
  readonly upstreams: readonly string[];
  /** Certificate authority of the servers; cleartext without it. */
  readonly upstreamCaFile?: string;
  /** Whether connections to the servers are used for more than one request at a time or one after the other. */
  readonly upstreamConnections: "kept" | "one a request";
}

/** A proxy that runs. */
export interface Proxy {
  /** Where it takes gRPC in cleartext: `127.0.0.1:PORT`. */
  readonly address: string;
  /** Where it takes HTTP/1.1. */
  readonly http1Url: string;
  readonly server: TestServer;
  /** Has it read its configuration again; absent where that is another matter. */
  readonly reload?: () => void;
}

/** Whether anybody takes connections on a port. */
export async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } finally {
    socket.destroy();
  }
}
