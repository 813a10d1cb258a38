/**
 * Divides bytes into frames: RFC 9113 sections 3.4, 4.1 and 4.2. It knows neither streams nor the meaning of a frame.
 */
import { ConnectionError, errorCode } from "./error-code.ts";
import { frameHeaderBytes, preface } from "./frame.ts";

/** Takes whole frames. */
export interface FrameSink {
  /**
   * Takes one frame. Its payload lies in `bytes` from `start` to `end`, exclusive. The bytes may be overwritten after
   * the call.
   *
   * @throws ConnectionError to stop reading.
   */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void;
}

/**
 * Cuts what a client sends into frames, however the bytes are split. A frame that lies whole in one chunk is not
 * copied; each byte of any other frame is copied once, into a buffer of the frame's length.
 */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #payloadBytesMax: number;
  #prefaceSeen = 0;
  readonly #header = Buffer.allocUnsafe(frameHeaderBytes);
  /** Bytes of an unfinished frame that have arrived, including its header. */
  #gathered = 0;
  #payload: Buffer | undefined;
  #isStopped = false;
  /** Number of frames that were handed on: it shows whether a client that sends bytes completes frames. */
  frameCount = 0;

  constructor(sink: FrameSink, payloadBytesMax: number) {
    this.#sink = sink;
    this.#payloadBytesMax = payloadBytesMax;
  }

  /** Whether a frame has begun but not ended. */
  get isMidFrame(): boolean {
    return this.#gathered > 0;
  }

  /** Passes on no more frames, not even those of the chunk that is being read. */
  stop(): void {
    this.#isStopped = true;
    this.#payload = undefined;
  }

  /**
   * Reads one chunk.
   *
   * @throws ConnectionError PROTOCOL_ERROR if the preface is wrong, FRAME_SIZE_ERROR if a frame declares too much; what
   * the sink throws.
   */
  read(chunk: Buffer): void {
    let at = this.#prefaceSeen < preface.length ? this.#readPreface(chunk) : 0;
    while (at < chunk.length && !this.#isStopped) {
      if (this.#gathered > 0 || chunk.length - at < frameHeaderBytes) {
        at = this.#gather(chunk, at);
        continue;
      }
      const start = at + frameHeaderBytes;
      const end = start + this.#payloadLength(chunk, at);
      if (end > chunk.length) {
        at = this.#gather(chunk, at);
        continue;
      }
      this.#handOn(chunk, at, chunk, start, end);
      at = end;
    }
  }

  #readPreface(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#prefaceSeen < preface.length) {
      if (chunk[at++] !== preface[this.#prefaceSeen++]) {
        throw new ConnectionError(errorCode.protocolError, "the connection preface is wrong");
      }
    }
    return at;
  }

  /** Copies the chunk's part of an unfinished frame, and returns where the rest of the chunk begins. */
  #gather(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#gathered < frameHeaderBytes) {
      const taken = chunk.copy(this.#header, this.#gathered, at, at + frameHeaderBytes - this.#gathered);
      this.#gathered += taken;
      at += taken;
      if (this.#gathered < frameHeaderBytes) return at;
      this.#payload = Buffer.allocUnsafe(this.#payloadLength(this.#header, 0));
    }
    const payload = this.#payload!;
    const taken = chunk.copy(payload, this.#gathered - frameHeaderBytes, at);
    this.#gathered += taken;
    if (this.#gathered === frameHeaderBytes + payload.length) {
      this.#payload = undefined;
      this.#gathered = 0;
      this.#handOn(this.#header, 0, payload, 0, payload.length);
    }
    return at + taken;
  }

  #handOn(header: Buffer, at: number, bytes: Buffer, start: number, end: number): void {
    this.frameCount++;
    // The highest bit of the stream's number is reserved and ignored: section 4.1.
    const streamId =
      ((header[at + 5]! & 0x7f) << 24) | (header[at + 6]! << 16) | (header[at + 7]! << 8) | header[at + 8]!;
    this.#sink.onFrame(header[at + 3]!, header[at + 4]!, streamId, bytes, start, end);
  }

  #payloadLength(bytes: Buffer, at: number): number {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    if (length > this.#payloadBytesMax) {
      throw new ConnectionError(
        errorCode.frameSizeError,
        `a frame of ${length} bytes exceeds ${this.#payloadBytesMax}`,
      );
    }
    return length;
  }
}
