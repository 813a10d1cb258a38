/** Which streams a connection had: RFC 9113 sections 5.1 and 5.1.1. */

/** How many streams that we reset are remembered. Frames for them may be on their way for one round trip. */
const droppedMax = 512;

/**
 * What is known of a stream that is not open. `idle`: not used yet. `skipped`: left out by the client, never open.
 * `dropped`: reset by us. `closed`: any other.
 */
export type ClosedKind = "idle" | "skipped" | "dropped" | "closed";

/** As much about the streams that are not open as it takes to tell late frames from wrong ones. */
export class StreamIds {
  /** The highest number that the client has used. */
  lastId = 0;
  /** The numbers that the client left out most recently, inclusive. */
  #skippedFrom = 0;
  #skippedTo = 0;
  /** Oldest first. */
  readonly #dropped = new Set<number>();

  /**
   * Says what is known of a stream that is not open. Clients' streams have odd numbers, and servers open none without
   * push.
   */
  kindOfClosed(id: number): ClosedKind {
    if (id > this.lastId || id % 2 === 0) return "idle";
    if (this.#dropped.has(id)) return "dropped";
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

  /** Notes a stream that we reset: what still comes for it is no error. */
  drop(id: number): void {
    this.#dropped.add(id);
    if (this.#dropped.size > droppedMax) this.#dropped.delete(this.#dropped.values().next().value!);
  }
}
