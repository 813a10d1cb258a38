import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import type { TaskOwner } from "./fair-queue.ts";
import { callerAddressOf } from "../listen/caller-address.ts";
import { networkOf } from "../listen/network.ts";
import { type Peer, peerKey, unknownPeer } from "../call/peer.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** Gives the fields of a request, several of one name joined by commas. */
interface RequestFields {
  readonly get: (name: string) => string | undefined;
}

/**
 * The other end of a socket. The engine has one object for each HTTP/2 connection, so it also identifies the
 * connection.
 */
export class SocketPeer implements Peer {
  readonly #socket: Socket;
  readonly network: string;
  /** Undefined where the other end is not a trusted proxy. */
  readonly #proxies: TrustedProxies | undefined;

  /** @param proxies - Those that may name their callers. */
  constructor(socket: Socket, proxies: TrustedProxies | undefined) {
    this.#socket = socket;
    const address = callerAddressOf(socket);
    this.network = networkOf(address);
    this.#proxies = proxies?.has(address) === true ? proxies : undefined;
  }

  get remoteAddress(): string {
    return callerAddressOf(this.#socket);
  }

  get subjectAltName(): string | undefined {
    const socket: Socket & Partial<Pick<TLSSocket, "authorized" | "getPeerCertificate">> = this.#socket;
    return socket.authorized === true ? socket.getPeerCertificate?.()?.subjectaltname : undefined;
  }

  /** The caller of a request on this connection: the other end, or the one that a trusted proxy there names. */
  callerOf(fields: RequestFields): Peer {
    const forwardedFor = this.#proxies === undefined ? undefined : fields.get("x-forwarded-for");
    if (this.#proxies === undefined || forwardedFor === undefined) return this;
    const remoteAddress = this.#proxies.callerOf(this.remoteAddress, forwardedFor);
    const { subjectAltName } = this;
    return { remoteAddress, network: networkOf(remoteAddress), subjectAltName };
  }
}

/** The caller of the engine's stream; unknown where the connection has no socket, as in tests. */
export function peerOf({ connection, head }: { readonly connection: object; readonly head: RequestFields }): Peer {
  return connection instanceof SocketPeer ? connection.callerOf(head) : unknownPeer;
}

/** The caller of a request that node:http or node:http2 has read. */
export function peerOfRequest({ socket, headers }: IncomingMessage, proxies: TrustedProxies | undefined): Peer {
  // Both join several fields of this name.
  return new SocketPeer(socket, proxies).callerOf({ get: (name) => headers[name]?.toString() });
}

/** A peer as Connect's handlers are given it. */
export function contextOf(peer: Peer): ContextValues {
  return createContextValues().set(peerKey, peer);
}

/** The owner of the engine's stream in a fair queue. */
export function ownerOf(stream: { readonly connection: object; readonly head: RequestFields }): TaskOwner {
  return { network: peerOf(stream).network, connection: stream.connection };
}
