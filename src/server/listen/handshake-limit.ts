import { limitTable } from "../../http2/limits.ts";

/**
 * The longest time, in milliseconds, for each step until a connection says what it wants: from connecting to the first
 * bytes, for a TLS handshake, from there to the first bytes, and from the first bytes of an HTTP/1.1 request to its
 * last header. It equals the default of the HTTP/2 engine, so that no protocol gives a silent caller more time.
 */
export const handshakeTimeoutMs = limitTable.handshakeTimeoutMs.default;
