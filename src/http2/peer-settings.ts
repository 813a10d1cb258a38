/** The SETTINGS of a client: RFC 9113 sections 6.5 and 6.5.2. */
import { ConnectionError, errorCode } from "./error-code.ts";
import { framePayloadBytesMax, framePayloadBytesMin, settingId, windowBytesMax } from "./frame.ts";

const settingBytes = 6;

/**
 * Checks the payload of a SETTINGS frame, and returns the initial window of streams that it sets; undefined if it sets
 * none.
 *
 * The other settings change nothing here: this server pushes nothing, its header blocks use no table, and its frames
 * and header lists are as small as every client must accept.
 *
 * @throws ConnectionError FRAME_SIZE_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR.
 */
export function readPeerSettings(bytes: Buffer, start: number, end: number): number | undefined {
  if ((end - start) % settingBytes !== 0) {
    throw new ConnectionError(errorCode.frameSizeError, "SETTINGS has a broken length");
  }
  let windowBytes: number | undefined;
  for (let at = start; at < end; at += settingBytes) {
    const value = bytes.readUInt32BE(at + 2);
    switch (bytes.readUInt16BE(at)) {
      case settingId.enablePush:
        if (value > 1) throw new ConnectionError(errorCode.protocolError, "ENABLE_PUSH is neither 0 nor 1");
        break;
      case settingId.initialWindowSize:
        if (value > windowBytesMax) {
          throw new ConnectionError(errorCode.flowControlError, "INITIAL_WINDOW_SIZE is too large");
        }
        windowBytes = value;
        break;
      case settingId.maxFrameSize:
        if (value < framePayloadBytesMin || value > framePayloadBytesMax) {
          throw new ConnectionError(errorCode.protocolError, "MAX_FRAME_SIZE is out of range");
        }
        break;
      default: // unknown ones are ignored: section 6.5.2
    }
  }
  return windowBytes;
}
