/**
 * Frames on their way out: RFC 9113 sections 4.1 and 6.
 *
 * Frames are written one after another into slabs of 64 kB, so that all output of one turn leaves in one write. No
 * other file may keep a reference to a slab: the current slab changes when it is full, and bytes that are written into
 * an old one would end up in the middle of another response. docs/adr/0042 explains why it is one write.
 */
import { frameFlag, framePayloadBytesMin, frameHeaderBytes, frameType } from "./frame.ts";
import type { ErrorCode } from "./error-code.ts";

const slabBytes = 65_536;
/** A slab with less room is dropped: the largest frame that is sent must fit. */
const roomBytesMin = framePayloadBytesMin + frameHeaderBytes;
const idleSlabsMax = 16;

interface Slab {
  readonly bytes: Buffer;
  /** The beginning of the free room. A socket may still read the bytes before it. */
  from: number;
}

/**
 * Slabs that no connection writes into at the moment. One pool serves all connections, so that an idle connection holds
 * none.
 */
export class SlabPool {
  readonly #idle: Slab[] = [];

  take(): Slab {
    return this.#idle.pop() ?? { bytes: Buffer.allocUnsafeSlow(slabBytes), from: 0 };
  }

  give(slab: Slab): void {
    if (slabBytes - slab.from >= roomBytesMin && this.#idle.length < idleSlabsMax) this.#idle.push(slab);
  }
}

/** Bytes of one slab that are ready to leave. */
interface Filled {
  readonly slab: Slab;
  readonly end: number;
}

/** Writes frames and hands them out as bytes. */
export class OutputBuffer {
  /** DATA frames that were written: a client may answer each by two WINDOW_UPDATE frames. */
  dataFrameCount = 0;
  readonly #pool: SlabPool;
  readonly #onFirstByte: () => void;
  readonly #filled: Filled[] = [];
  #slab: Slab | undefined;
  #end = 0;
  #taken: Filled | undefined;
  /** Bytes that were written but not yet taken. */
  pendingBytes = 0;

  /** @param onFirstByte - Called when bytes begin to wait and none waited before. */
  constructor(pool: SlabPool, onFirstByte: () => void) {
    this.#pool = pool;
    this.#onFirstByte = onFirstByte;
  }

  /**
   * Takes the oldest bytes that wait, at most one slab of them; undefined if none do. They stay unchanged until
   * {@link OutputBuffer.onWritten}, which must be called before any other method.
   */
  take(): Buffer | undefined {
    if (this.pendingBytes === 0) return undefined;
    const oldest = this.#filled.shift() ?? { slab: this.#slab!, end: this.#end };
    if (oldest.slab === this.#slab) this.#slab = undefined;
    this.#taken = oldest;
    this.pendingBytes -= oldest.end - oldest.slab.from;
    return oldest.slab.bytes.subarray(oldest.slab.from, oldest.end);
  }

  /** Reports what happened to the bytes that were taken: the kernel has all of them, or the socket still reads them. */
  onWritten(fate: "flushed" | "buffered"): void {
    const taken = this.#taken;
    if (taken === undefined) return;
    this.#taken = undefined;
    // The room of flushed bytes is reused: a new slab for each 64 kB of a long stream would take twice the memory.
    if (fate === "buffered") taken.slab.from = taken.end;
    this.#pool.give(taken.slab);
  }

  /** Drops the bytes that wait. */
  discard(): void {
    while (this.take() !== undefined) this.onWritten("flushed");
  }

  settings(values: readonly (readonly [id: number, value: number])[]): void {
    let at = this.#frame(values.length * 6, frameType.settings, 0, 0);
    const { bytes } = this.#slab!;
    for (const [id, value] of values) {
      at = bytes.writeUInt16BE(id, at);
      at = bytes.writeUInt32BE(value, at);
    }
  }

  settingsAck(): void {
    this.#frame(0, frameType.settings, frameFlag.ack, 0);
  }

  /** @param opaque - Holds the eight bytes of the payload, from `start`. */
  ping(kind: "ask" | "answer", opaque: Buffer, start: number): void {
    const at = this.#frame(8, frameType.ping, kind === "answer" ? frameFlag.ack : 0, 0);
    copySmall(opaque, start, start + 8, this.#slab!.bytes, at);
  }

  /** @param debug - ASCII; for the log of the client. */
  goAway(lastStreamId: number, code: ErrorCode, debug: string): void {
    const at = this.#frame(8 + debug.length, frameType.goAway, 0, 0);
    const { bytes } = this.#slab!;
    bytes.writeUInt32BE(lastStreamId, at);
    bytes.writeUInt32BE(code, at + 4);
    bytes.write(debug, at + 8, "latin1");
  }

  rstStream(streamId: number, code: ErrorCode): void {
    const at = this.#frame(4, frameType.rstStream, 0, streamId);
    this.#slab!.bytes.writeUInt32BE(code, at);
  }

  /** @param streamId - 0 for the connection's window. */
  windowUpdate(streamId: number, incrementBytes: number): void {
    const at = this.#frame(4, frameType.windowUpdate, 0, streamId);
    this.#slab!.bytes.writeUInt32BE(incrementBytes, at);
  }

  /** Writes a header block, with CONTINUATION frames if it is longer than 16,384 bytes. */
  headers(streamId: number, block: Buffer, endsStream: boolean): void {
    let flags: number = endsStream ? frameFlag.endStream : 0;
    let type: number = frameType.headers;
    let start = 0;
    do {
      const end = Math.min(block.length, start + framePayloadBytesMin);
      if (end === block.length) flags |= frameFlag.endHeaders;
      const at = this.#frame(end - start, type, flags, streamId);
      copySmall(block, start, end, this.#slab!.bytes, at);
      start = end;
      type = frameType.continuation;
      flags = 0;
    } while (start < block.length);
  }

  /** Writes one DATA frame; at most {@link framePayloadBytesMin} bytes. */
  data(streamId: number, bytes: Uint8Array, start: number, end: number, endsStream: boolean): void {
    this.dataFrameCount++;
    const at = this.#frame(end - start, frameType.data, endsStream ? frameFlag.endStream : 0, streamId);
    copySmall(bytes, start, end, this.#slab!.bytes, at);
  }

  /** Writes a frame's header and returns where its payload goes. Only now may `#slab` be read: it may have changed. */
  #frame(payloadBytes: number, type: number, flags: number, streamId: number): number {
    const at = this.#reserve(frameHeaderBytes + payloadBytes);
    const { bytes } = this.#slab!;
    bytes[at] = payloadBytes >>> 16;
    bytes[at + 1] = payloadBytes >>> 8;
    bytes[at + 2] = payloadBytes;
    bytes[at + 3] = type;
    bytes[at + 4] = flags;
    bytes[at + 5] = streamId >>> 24;
    bytes[at + 6] = streamId >>> 16;
    bytes[at + 7] = streamId >>> 8;
    bytes[at + 8] = streamId;
    return at + frameHeaderBytes;
  }

  #reserve(length: number): number {
    if (this.pendingBytes === 0) this.#onFirstByte();
    if (this.#slab !== undefined && this.#end + length > slabBytes) {
      this.#filled.push({ slab: this.#slab, end: this.#end });
      this.#slab = undefined;
    }
    if (this.#slab === undefined) {
      this.#slab = this.#pool.take();
      this.#end = this.#slab.from;
    }
    const at = this.#end;
    this.#end += length;
    this.pendingBytes += length;
    return at;
  }
}

/** For a few bytes this loop is faster than a call into C++. */
function copySmall(from: Uint8Array, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > 48) {
    to.set(start === 0 && end === from.length ? from : from.subarray(start, end), at);
    return;
  }
  for (let index = start; index < end; index++) to[at + index - start] = from[index]!;
}
