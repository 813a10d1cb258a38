/** Frames on the wire: RFC 9113 sections 3.4, 4.1, 4.2, 6 and 6.9.1. */
import { ConnectionError, errorCode } from "./error-code.ts";

/** Section 6. PUSH_PROMISE is never sent, and PRIORITY is checked and ignored (section 5.3.2). */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** The bits of a frame's flags; which ones mean anything depends on the type. */
export const frameFlag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Section 6.5.2. */
export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** The first bytes of a client: section 3.4. */
export const preface: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const frameHeaderBytes = 9;
/** The payload that every peer accepts, and the most that we send: section 4.2. */
export const framePayloadBytesMin = 16_384;
/** The largest payload that a frame can declare. */
export const framePayloadBytesMax = 16_777_215;
/** Windows start here (section 6.9.2) and must never grow beyond the second (section 6.9.1). */
export const windowBytesInitial = 65_535;
export const windowBytesMax = 0x7fffffff;
export const streamIdMax = 0x7fffffff;

/**
 * How many bytes of padding end a payload from `start` to `end` whose first byte gives their number: section 6.1.
 *
 * @throws ConnectionError PROTOCOL_ERROR if they do not fit.
 */
export function paddingBytes(bytes: Buffer, start: number, end: number): number {
  if (start < end && bytes[start]! < end - start) return bytes[start]!;
  throw new ConnectionError(errorCode.protocolError, "the padding is longer than its frame");
}
