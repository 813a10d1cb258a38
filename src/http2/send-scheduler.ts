/** The order in which bodies of responses are sent, and how much of each: RFC 9113 sections 5.2 and 6.9. */
import { ConnectionError, errorCode, StreamError } from "./error-code.ts";
import { framePayloadBytesMin, windowBytesInitial, windowBytesMax } from "./frame.ts";
import type { OutputBuffer } from "./output-buffer.ts";
import type { KeptBytes, Stream } from "./stream.ts";

/** Sends bodies within the client's windows, one frame of each waiting stream in turn. */
export class SendScheduler {
  readonly #output: OutputBuffer;
  readonly #outputBytesMax: number;
  readonly #onQueueEmpty: (stream: Stream) => void;
  #windowBytes = windowBytesInitial;
  /** The send window of a new stream, by the client's SETTINGS. */
  initialWindowBytes = windowBytesInitial;
  /** False while the socket takes no bytes. */
  isWritable = true;
  /**
   * Streams with queued bytes and an open window. A stream that has sent a frame is removed and added again, so that it
   * is the last: round robin.
   */
  readonly #ready = new Set<Stream>();

  /** @param onQueueEmpty - Called when the last of the bytes that a stream had to keep was sent. */
  constructor(output: OutputBuffer, outputBytesMax: number, onQueueEmpty: (stream: Stream) => void) {
    this.#output = output;
    this.#outputBytesMax = outputBytesMax;
    this.#onQueueEmpty = onQueueEmpty;
  }

  /** Whether a call of {@link SendScheduler.run} would send something. */
  get canSend(): boolean {
    return this.#ready.size > 0 && this.#hasRoom;
  }

  get #hasRoom(): boolean {
    return this.isWritable && this.#windowBytes > 0 && this.#output.pendingBytes < this.#outputBytesMax;
  }

  /** Sends the bytes that may leave at once and queues the rest. Returns whether all were sent. */
  send(stream: Stream, bytes: Uint8Array, keep: KeptBytes, nowMs: number): boolean {
    if (bytes.length === 0) return stream.queuedBytes === 0;
    let sent = 0;
    // Streams that already wait come first.
    if (stream.queuedBytes === 0 && this.#ready.size === 0) {
      while (sent < bytes.length && this.#hasRoom && stream.sendWindowBytes > 0)
        sent += this.#sendFrame(stream, bytes, sent);
      if (sent === bytes.length) return true;
    }
    if (stream.queuedBytes === 0) noteProgress(stream, nowMs);
    stream.queue.push(keep === "copy" ? new Uint8Array(bytes.subarray(sent)) : bytes.subarray(sent));
    stream.queuedBytes += bytes.length - sent;
    this.#enqueue(stream);
    return false;
  }

  /** Sends queued bytes, as far as windows and output allow. */
  run(nowMs: number): void {
    for (const stream of this.#ready) {
      if (!this.#hasRoom) return;
      this.#ready.delete(stream);
      const first = stream.queue[0]!;
      const sent = this.#sendFrame(stream, first, 0);
      stream.queuedBytes -= sent;
      stream.owedBytes -= sent;
      if (stream.owedBytes <= 0) noteProgress(stream, nowMs);
      if (sent === first.length) stream.queue.shift();
      else stream.queue[0] = first.subarray(sent);
      if (stream.queuedBytes > 0) this.#enqueue(stream);
      else this.#onQueueEmpty(stream);
    }
  }

  /** Drops the queued bytes of a stream. */
  drop(stream: Stream): void {
    if (stream.queuedBytes === 0) return;
    stream.queue = [];
    stream.queuedBytes = 0;
    this.#ready.delete(stream);
  }

  /** @throws ConnectionError FLOW_CONTROL_ERROR if the window grows beyond 2^31 - 1. */
  widenConnection(bytes: number): void {
    this.#windowBytes += bytes;
    if (this.#windowBytes > windowBytesMax) {
      throw new ConnectionError(errorCode.flowControlError, "the connection's window is too large");
    }
  }

  /** @throws StreamError FLOW_CONTROL_ERROR if the window grows beyond 2^31 - 1. */
  widenStream(stream: Stream, bytes: number): void {
    stream.sendWindowBytes += bytes;
    if (stream.sendWindowBytes > windowBytesMax) {
      throw new StreamError(stream.id, errorCode.flowControlError, "the stream's window is too large");
    }
    if (stream.queuedBytes > 0) this.#enqueue(stream);
  }

  /**
   * Sets the send window of new streams, and moves the windows of open ones by the difference, below zero too: section
   * 6.9.2.
   *
   * @throws ConnectionError FLOW_CONTROL_ERROR if one of them grows beyond 2^31 - 1.
   */
  setInitialWindow(bytes: number, openStreams: Iterable<Stream>): void {
    const change = bytes - this.initialWindowBytes;
    this.initialWindowBytes = bytes;
    if (change === 0) return;
    for (const stream of openStreams) {
      stream.sendWindowBytes += change;
      if (stream.sendWindowBytes > windowBytesMax) {
        throw new ConnectionError(errorCode.flowControlError, "a stream's window is too large");
      }
      if (stream.queuedBytes > 0) this.#enqueue(stream);
    }
  }

  #enqueue(stream: Stream): void {
    if (stream.sendWindowBytes > 0) this.#ready.add(stream);
    else this.#ready.delete(stream);
  }

  /** Sends one frame of `bytes` from `start`, and returns how many bytes it took. Both windows must be open. */
  #sendFrame(stream: Stream, bytes: Uint8Array, start: number): number {
    const length = Math.min(bytes.length - start, framePayloadBytesMin, stream.sendWindowBytes, this.#windowBytes);
    stream.sendWindowBytes -= length;
    this.#windowBytes -= length;
    this.#output.data(stream.id, bytes, start, start + length, false);
    return length;
  }
}

/** Only a full frame counts as progress. With a byte now and then, a response of 500 kB could be held for months. */
function noteProgress(stream: Stream, nowMs: number): void {
  stream.movedMs = nowMs;
  stream.stallToldMs = undefined;
  stream.owedBytes = framePayloadBytesMin;
}
