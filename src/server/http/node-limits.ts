/** Limits that node:http and node:http2 are given alike. */

/** Header fields of one request. */
export const headerCountMax = 128;
/** node:http holds HTTP/1.1 to it; node:http2 announces it and lets four times as much pass. */
export const headerBytesMax = 16_384;
/** A connection without a call is closed after this. */
export const idleTimeoutMs = 300_000;
