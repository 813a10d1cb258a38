import { createContextKey } from "@connectrpc/connect";

/** The caller at the other end of a connection, or behind the proxy that is there. */
export interface Peer {
  /** An IPv4 or IPv6 address; empty where the connection has closed. */
  readonly remoteAddress: string;
  /** See networkOf in network.ts. It stays when the connection has closed. */
  readonly network: string;
  /**
   * The names in its certificate, as Node writes them (tls.PeerCertificate.subjectaltname). Undefined where it has
   * shown no certificate of an authority that this server was given.
   */
  readonly subjectAltName: string | undefined;
}

/** A caller of whom nothing is known. */
export const unknownPeer: Peer = { remoteAddress: "", network: "", subjectAltName: undefined };

/** Where the exchanges put the peer of a call for Connect's handlers. */
export const peerKey = createContextKey<Peer>(unknownPeer, { description: "peer" });
