import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import type { TaskOwner } from "./fair-queue.ts";
import { networkOf } from "../listen/network.ts";
import { type Peer, peerKey, unknownPeer } from "../call/peer.ts";

/** The other end of a socket. One object for a connection of HTTP/2 by the engine, so it also stands for that. */
export class SocketPeer implements Peer {
  readonly #socket: Socket;
  readonly network: string;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.network = networkOf(socket.remoteAddress ?? "");
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? "";
  }

  get subjectAltName(): string | undefined {
    const socket: Socket & Partial<Pick<TLSSocket, "authorized" | "getPeerCertificate">> = this.#socket;
    return socket.authorized === true ? socket.getPeerCertificate?.()?.subjectaltname : undefined;
  }
}

/** The peer of the engine's stream, by `stream.connection`; unknown where the connection has no socket, as in tests. */
export function peerOf({ connection }: { readonly connection: object }): Peer {
  return connection instanceof SocketPeer ? connection : unknownPeer;
}

/** A peer as Connect's handlers are given it. */
export function contextOf(peer: Peer): ContextValues {
  return createContextValues().set(peerKey, peer);
}

/** The owner of the engine's stream in a fair queue. */
export function ownerOf(stream: { readonly connection: object }): TaskOwner {
  return { network: peerOf(stream).network, connection: stream.connection };
}
