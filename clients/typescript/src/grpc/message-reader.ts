import { Code, ConnectError } from "@connectrpc/connect";

/** A flag and a length: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message. */
const prefixBytes = 5;
/** The most that gRPC's own clients accept by default; the largest answer of a Snowlane server has 512 KiB. */
const messageBytesMax = 4 * 1_024 * 1_024;

/** Cuts the body of an answer into messages. Each is copied once. */
export class MessageReader {
  readonly #onMessage: (message: Uint8Array) => void;
  readonly #prefix = Buffer.alloc(prefixBytes);
  /** Bytes of an unfinished message that have come, its prefix included. */
  #gathered = 0;
  #message: Buffer | undefined;

  /** @param onMessage - Takes one message, and may keep its bytes: unknown fields point into them. */
  constructor(onMessage: (message: Uint8Array) => void) {
    this.#onMessage = onMessage;
  }

  /** Whether a message has begun and not ended. */
  get isMidMessage(): boolean {
    return this.#gathered > 0;
  }

  /**
   * Reads a piece of the body, from `from` to `end`, exclusive.
   *
   * @throws ConnectError internal, if a message is compressed, which was not offered; resource_exhausted, if it is
   * larger than 4 MiB; what `onMessage` throws.
   */
  read(bytes: Buffer, from: number, end: number): void {
    let at = from;
    while (at < end) {
      const start = at + prefixBytes;
      if (this.#gathered === 0 && start <= end) {
        const messageEnd = start + lengthOf(bytes, at);
        if (messageEnd <= end) {
          this.#onMessage(new Uint8Array(bytes.subarray(start, messageEnd)));
          at = messageEnd;
          continue;
        }
      }
      at = this.#gather(bytes, at, end);
    }
  }

  /** Copies the part of an unfinished message, and returns where the rest begins. */
  #gather(bytes: Buffer, from: number, end: number): number {
    let at = from;
    if (this.#message === undefined) {
      const taken = bytes.copy(this.#prefix, this.#gathered, at, Math.min(end, at + prefixBytes - this.#gathered));
      this.#gathered += taken;
      at += taken;
      if (this.#gathered < prefixBytes) return at;
      this.#message = Buffer.allocUnsafe(lengthOf(this.#prefix, 0));
    }
    const message = this.#message;
    const has = this.#gathered - prefixBytes;
    const taken = bytes.copy(message, has, at, Math.min(end, at + message.length - has));
    this.#gathered += taken;
    if (has + taken === message.length) {
      this.#message = undefined;
      this.#gathered = 0;
      this.#onMessage(message);
    }
    return at + taken;
  }
}

function lengthOf(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0) throw new ConnectError("protocol error: a compressed message was not offered", Code.Internal);
  const length = bytes.readUInt32BE(at + 1);
  if (length <= messageBytesMax) return length;
  const message = `a message of ${length} bytes is larger than ${messageBytesMax}`;
  throw new ConnectError(message, Code.ResourceExhausted);
}
