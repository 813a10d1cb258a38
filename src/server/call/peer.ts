import { createContextKey } from "@connectrpc/connect";

/** The other end of a connection. */
export interface Peer {
  /** An IPv4 or IPv6 address; empty where the connection has closed. */
  readonly remoteAddress: string;
}

/** A caller of whom nothing is known. */
export const unknownPeer: Peer = { remoteAddress: "" };

/** Where the exchanges put the peer of a call for Connect's handlers. */
export const peerKey = createContextKey<Peer>(unknownPeer, { description: "peer" });
