/** The streams that a connection had: RFC 9113 sections 5.1 and 5.1.1. */

/** How many ignored streams are remembered. Frames for them may be on their way for one round trip. */
const ignoredMax = 512;

/**
 * The state of a stream that is not open. `idle`: not used yet. `skipped`: its number was left out by the client.
 * `ignored`: reset by this server, or not served after its GOAWAY, so that late frames are not an error. `closed`: any
 * other.
 */
export type ClosedKind = "idle" | "skipped" | "ignored" | "closed";

/** Knows as much about the streams that are not open as is needed to tell late frames from wrong ones. */
export class StreamIds {
  /** The highest number that the client has used. */
  lastId = 0;
  /** The numbers that the client left out most recently, inclusive. */
  #skippedFrom = 0;
  #skippedTo = 0;
  /** Oldest first. */
  readonly #ignored = new Set<number>();

  /**
   * Returns what is known of a stream that is not open. Clients' streams have odd numbers, and servers open none
   * without push.
   */
  kindOfClosed(id: number): ClosedKind {
    if (id > this.lastId || id % 2 === 0) return "idle";
    if (this.#ignored.has(id)) return "ignored";
    return id >= this.#skippedFrom && id <= this.#skippedTo ? "skipped" : "closed";
  }

  /** Notes a new stream's number, which must be odd and above {@link StreamIds.lastId}. */
  use(id: number): void {
    if (id > this.lastId + 2) {
      this.#skippedFrom = this.lastId + 1;
      this.#skippedTo = id - 1;
    }
    this.lastId = id;
  }

  /** Notes a stream whose late frames are not an error. */
  ignore(id: number): void {
    this.#ignored.add(id);
    if (this.#ignored.size > ignoredMax) this.#ignored.delete(this.#ignored.values().next().value!);
  }
}
