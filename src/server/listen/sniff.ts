import type { Socket } from "node:net";

/** Every HTTP/2 connection begins with PRI (RFC 9113, 3.4), which no HTTP/1.1 method does. */
const http2Preface = "PRI";

/**
 * Tells HTTP/2 from HTTP/1.1 by the first bytes, which are put back.
 *
 * @param then - Called once; never for a socket that closes before its first bytes.
 */
export function sniff(socket: Socket, then: (isHttp2: boolean) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const look = (): void => {
    const read: Buffer | null = socket.read();
    if (read === null) return;
    bytes = bytes.length === 0 ? read : Buffer.concat([bytes, read]);
    const start = bytes.toString("latin1", 0, http2Preface.length);
    // Too few to tell: more will come. They are not put back earlier, because that would make the socket "readable"
    // again at once, without end.
    if (start.length < http2Preface.length && http2Preface.startsWith(start)) return;
    socket.off("readable", look);
    socket.unshift(bytes);
    then(start === http2Preface);
  };
  socket.on("readable", look);
  // Another listener that waited for these bytes may have taken the event.
  look();
}
