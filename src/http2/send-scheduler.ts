/** Whose bytes leave next, and how many: RFC 9113 sections 5.2 and 6.9. */
import { ConnectionError, errorCode, StreamError } from "./error-code.ts";
import { framePayloadBytesMin, windowBytesInitial, windowBytesMax } from "./frame.ts";
import type { Outbox } from "./outbox.ts";
import type { KeptBytes, Stream } from "./stream.ts";

/** What the scheduler tells. */
export interface SendSchedulerEvents {
  /** The stream's queue is empty, and its response is to end. */
  onDrained(stream: Stream): void;
  /** The stream's queue is empty, and its handler may write on. */
  onWritable(stream: Stream): void;
}

/** Sends bodies within the client's windows, one frame of each waiting stream in turn. */
export class SendScheduler {
  readonly #outbox: Outbox;
  readonly #outputBytesMax: number;
  readonly #events: SendSchedulerEvents;
  #windowBytes = windowBytesInitial;
  /** What streams begin with, as the client's SETTINGS say. */
  initialWindowBytes = windowBytesInitial;
  /** False while the socket takes nothing. */
  isWritable = true;
  /**
   * Streams with bytes to send and a window of their own. A stream that leaves and comes again stands last: that is the
   * round robin.
   */
  readonly #ready = new Set<Stream>();

  constructor(outbox: Outbox, outputBytesMax: number, events: SendSchedulerEvents) {
    this.#outbox = outbox;
    this.#outputBytesMax = outputBytesMax;
    this.#events = events;
  }

  /** Whether a call of {@link SendScheduler.run} would send something. */
  get canSend(): boolean {
    return this.#ready.size > 0 && this.#hasRoom;
  }

  get #hasRoom(): boolean {
    return this.isWritable && this.#windowBytes > 0 && this.#outbox.pendingBytes < this.#outputBytesMax;
  }

  /** Sends what may leave at once and keeps the rest. Returns whether all of it was sent. */
  send(stream: Stream, bytes: Uint8Array, keep: KeptBytes, nowMs: number): boolean {
    if (bytes.length === 0) return stream.queuedBytes === 0;
    let sent = 0;
    // Others that wait come first.
    if (stream.queuedBytes === 0 && this.#ready.size === 0) {
      while (sent < bytes.length && this.#hasRoom && stream.sendWindowBytes > 0)
        sent += this.#sendFrame(stream, bytes, sent);
      if (sent === bytes.length) return true;
    }
    if (stream.queuedBytes === 0) stream.movedMs = nowMs;
    stream.queue.push(keep === "copy" ? new Uint8Array(bytes.subarray(sent)) : bytes.subarray(sent));
    stream.queuedBytes += bytes.length - sent;
    this.#enqueue(stream);
    return false;
  }

  /** Sends what waits, as far as windows and output allow. */
  run(nowMs: number): void {
    for (const stream of this.#ready) {
      if (!this.#hasRoom) return;
      this.#ready.delete(stream);
      const first = stream.queue[0]!;
      const sent = this.#sendFrame(stream, first, 0);
      stream.movedMs = nowMs;
      stream.stallToldMs = undefined;
      stream.queuedBytes -= sent;
      if (sent === first.length) stream.queue.shift();
      else stream.queue[0] = first.subarray(sent);
      if (stream.queuedBytes > 0) this.#enqueue(stream);
      else if (stream.isEnding) this.#events.onDrained(stream);
      else this.#events.onWritable(stream);
    }
  }

  /** Forgets a stream whose queue was dropped. */
  remove(stream: Stream): void {
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
   * Sets what streams begin with, and moves the windows of those that are open by the difference, below zero too:
   * section 6.9.2.
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
    this.#outbox.data(stream.id, bytes, start, start + length, false);
    return length;
  }
}
