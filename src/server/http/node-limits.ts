/** Limits that node:http and node:http2 share. */
import { limitTable } from "../../http2/limits.ts";

/** Header fields of one request. */
export const headerCountMax = 128;
/** node:http enforces it for HTTP/1.1; node:http2 announces it and lets four times as much pass. */
export const headerBytesMax = 16_384;
/** A connection without a call is closed after this time. */
export const idleTimeoutMs = 300_000;
/**
 * The most bytes that are written at once. Each piece that leaves is progress of the reader, so a slow reader of large
 * messages does not count as stalled.
 */
export const pieceBytes = 16_384;
/** How long a reader that stalled has to fetch the error that ends its response: as on the engine. */
export const stallGraceMs = limitTable.stallGraceMs.default;
