/** HEADERS and CONTINUATION to whole header blocks: RFC 9113 sections 4.3, 6.2, 6.10; padding: 6.1. */
import { ConnectionError, errorCode } from "./error-code.ts";
import { frameFlag, paddingBytes, streamIdMax } from "./frame.ts";
import type { Limits } from "./limits.ts";

/** The properties of a header block that its HEADERS frame carries. */
export interface HeaderBlockTraits {
  readonly endsStream: boolean;
  /** A priority that names the stream itself: malformed (RFC 7540 section 5.3.1). */
  readonly dependsOnItself: boolean;
}

/** A header block that waits for its CONTINUATION frames. */
interface OpenBlock extends HeaderBlockTraits {
  readonly streamId: number;
  readonly pieces: Buffer[];
  sizeBytes: number;
}

/** Takes whole header blocks. The bytes may be overwritten after the call. */
export interface HeaderBlockSink {
  onHeaderBlock(streamId: number, traits: HeaderBlockTraits, bytes: Buffer, start: number, end: number): void;
}

/** Joins the pieces of header blocks. While a block is open, no other frame may come on the connection. */
export class HeaderBlockReader {
  readonly #sink: HeaderBlockSink;
  readonly #limits: Pick<Limits, "headerBlockBytesMax" | "continuationFramesMax">;
  #open: OpenBlock | undefined;

  constructor(sink: HeaderBlockSink, limits: Pick<Limits, "headerBlockBytesMax" | "continuationFramesMax">) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Whether CONTINUATION must come next. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** @throws ConnectionError FRAME_SIZE_ERROR, PROTOCOL_ERROR, ENHANCE_YOUR_CALM. */
  onHeaders(flags: number, streamId: number, bytes: Buffer, frameStart: number, frameEnd: number): void {
    let start = frameStart;
    let end = frameEnd;
    if ((flags & frameFlag.padded) !== 0) {
      end -= paddingBytes(bytes, start, end);
      start++;
    }
    let dependsOnItself = false;
    if ((flags & frameFlag.priority) !== 0) {
      if (end - start < 5) throw new ConnectionError(errorCode.frameSizeError, "HEADERS is too short for its priority");
      dependsOnItself = (bytes.readUInt32BE(start) & streamIdMax) === streamId;
      start += 5;
    }
    const endsStream = (flags & frameFlag.endStream) !== 0;
    this.#checkSize(end - start);
    if ((flags & frameFlag.endHeaders) !== 0) {
      this.#sink.onHeaderBlock(streamId, { endsStream, dependsOnItself }, bytes, start, end);
      return;
    }
    const pieces = [Buffer.from(bytes.subarray(start, end))];
    this.#open = { streamId, endsStream, dependsOnItself, pieces, sizeBytes: end - start };
  }

  /** @throws ConnectionError PROTOCOL_ERROR, ENHANCE_YOUR_CALM. */
  onContinuation(flags: number, streamId: number, bytes: Buffer, start: number, end: number): void {
    const open = this.#open;
    if (open === undefined || open.streamId !== streamId) {
      throw new ConnectionError(errorCode.protocolError, "CONTINUATION continues nothing");
    }
    open.pieces.push(Buffer.from(bytes.subarray(start, end)));
    open.sizeBytes += end - start;
    this.#checkSize(open.sizeBytes);
    if (open.pieces.length - 1 > this.#limits.continuationFramesMax) {
      throw new ConnectionError(errorCode.enhanceYourCalm, "a header block has too many CONTINUATION frames");
    }
    if ((flags & frameFlag.endHeaders) === 0) return;
    this.#open = undefined;
    const block = Buffer.concat(open.pieces, open.sizeBytes);
    this.#sink.onHeaderBlock(streamId, open, block, 0, block.length);
  }

  #checkSize(sizeBytes: number): void {
    const { headerBlockBytesMax } = this.#limits;
    if (sizeBytes <= headerBlockBytesMax) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, `a header block exceeds ${headerBlockBytesMax} bytes`);
  }
}
