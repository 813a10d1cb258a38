import type { Socket } from "node:net";

/** The callers that a proxy named at the beginning of a connection. */
const named = new WeakMap<Socket, string>();

/** Notes the caller of a connection: an address that a proxy named. */
export function nameCaller(socket: Socket, address: string): void {
  named.set(socket, address);
}

/** The address that a proxy named for a connection; undefined where none did. */
export function namedCallerOf(socket: Socket): string | undefined {
  return named.get(socket);
}

/** The address of the caller on a connection: the one that a proxy named, or the other end; empty once it is closed. */
export function callerAddressOf(socket: Socket): string {
  return named.get(socket) ?? socket.remoteAddress ?? "";
}
