import type { Socket } from "node:net";
import { limitTable } from "../../http2/limits.ts";

/**
 * The longest time, in milliseconds, for each step until a connection says what it wants: from connecting to the first
 * bytes, for a TLS handshake, from there to the first bytes, and from the first bytes of an HTTP/1.1 request to its
 * last header. It equals the default of the HTTP/2 engine, so that no protocol gives a silent caller more time.
 */
export const handshakeTimeoutMs = limitTable.handshakeTimeoutMs.default;

/**
 * Closes a connection that is silent for {@link handshakeTimeoutMs}, until its timeout is set to 0.
 *
 * If this process itself was paused for that long, its timers fire before the bytes that have arrived meanwhile are
 * read, so the socket is read once more before it is closed.
 */
export function limitHandshake(socket: Socket): void {
  socket.setTimeout(handshakeTimeoutMs, () => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead && socket.timeout !== 0) socket.destroy();
    });
  });
}
