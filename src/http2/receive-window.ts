/**
 * How many bytes a client may still send: RFC 9113 sections 5.2, 6.9 and 6.9.1. SendScheduler has the window for what
 * this server sends.
 */

/**
 * The receive window of one stream, or of the whole connection.
 *
 * Each byte of the window is in one of three places, so that left + held + owed is always the size. DATA moves bytes
 * from left to held, padding included. The handler consumes bytes, which moves them from held to owed. WINDOW_UPDATE
 * moves them from owed back to left. It is sent when at least half of the window is owed: one frame for many.
 *
 * Example with a window of 65,535 bytes:
 *
 * | event                        |   left |   held |   owed | result                                  |
 * | ---------------------------- | -----: | -----: | -----: | --------------------------------------- |
 * | the stream opens             | 65,535 |      0 |      0 |                                         |
 * | DATA of 16,384 bytes, twice  | 32,767 | 32,768 |      0 |                                         |
 * | the handler consumes 20,000  | 32,767 | 12,768 | 20,000 | nothing: less than half, 32,768         |
 * | the handler consumes 12,768  | 65,535 |      0 |      0 | WINDOW_UPDATE of 32,768                 |
 * | DATA of 16,384, four times   |     -1 | 65,536 |      0 | one byte too many: FLOW_CONTROL_ERROR   |
 */
export class ReceiveWindow {
  readonly #sizeBytes: number;
  #heldBytes = 0;
  #owedBytes = 0;

  /** @param sizeBytes - How many bytes the client may send before the first WINDOW_UPDATE. */
  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** Bytes that were received and are not consumed. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Counts received bytes, and returns whether the client was allowed to send them. They are held in either case. */
  receive(bytes: number): boolean {
    this.#heldBytes += bytes;
    return this.#heldBytes + this.#owedBytes <= this.#sizeBytes;
  }

  /**
   * Counts consumed bytes, at most {@link ReceiveWindow.heldBytes}. Returns the increment that a WINDOW_UPDATE must
   * give the client now; 0 while less than half of the window is owed.
   */
  consume(bytes: number): number {
    this.#heldBytes -= bytes;
    this.#owedBytes += bytes;
    const owedBytes = this.#owedBytes;
    if (2 * owedBytes < this.#sizeBytes) return 0;
    this.#owedBytes = 0;
    return owedBytes;
  }
}
