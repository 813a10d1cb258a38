import type { Socket } from "node:net";
import { nameCaller } from "./caller-address.ts";
import { handshakeTimeoutMs } from "./handshake-limit.ts";
import { canonicalAddress } from "./network.ts";
import { readProxyHeader } from "./proxy-header.ts";

/**
 * Takes the header of the PROXY protocol off the beginning of a connection, and notes the caller that it names. A
 * connection that begins with anything else is closed, and so is one whose header takes longer than a handshake may.
 *
 * @param then - Called once with the caller's address; undefined where the proxy speaks for itself. Never called for a
 * connection that is closed before.
 */
export function takeProxyHeader(socket: Socket, then: (address: string | undefined) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  // This limits the whole time, and not only each pause: a byte now and then would hold the connection for minutes.
  const timer = setTimeout(() => socket.destroy(), handshakeTimeoutMs).unref();
  socket.once("close", () => clearTimeout(timer));
  const look = (): void => {
    const read: Buffer | null = socket.read();
    if (read === null) return;
    bytes = bytes.length === 0 ? read : Buffer.concat([bytes, read]);
    const header = readProxyHeader(bytes);
    if (header.kind === "incomplete") return;
    socket.off("readable", look);
    clearTimeout(timer);
    if (header.kind === "malformed") {
      socket.destroy();
      return;
    }
    const rest = bytes.subarray(header.byteCount);
    if (rest.length > 0) socket.unshift(rest);
    const address = header.address === undefined ? undefined : canonicalAddress(header.address);
    if (address !== undefined) nameCaller(socket, address);
    then(address);
  };
  socket.on("readable", look);
}
