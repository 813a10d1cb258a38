import { invalidResponse } from "./errors.ts";

const idMax = (1n << 63n) - 1n;

/**
 * Holds the chunks of one server's stream to the rules: none is empty, no more than were asked for, ascending from
 * chunk to chunk. Of a chunk the first and last ID are looked at.
 */
export class ChunkCheck {
  #leftCount: number;
  #lastId = -1n;

  constructor(count: number) {
    this.#leftCount = count;
  }

  /** @throws SnowlaneError INVALID_RESPONSE. */
  take(ids: readonly bigint[]): void {
    const first = ids[0];
    const last = ids.at(-1);
    const isSound = first !== undefined && last !== undefined && first > this.#lastId && last >= first && last <= idMax;
    if (!isSound || ids.length > this.#leftCount) {
      const metadata = { first_id: String(first), last_id: String(last), previous_id: String(this.#lastId) };
      throw invalidResponse("The server sent a chunk that cannot be.", { ...metadata, count: String(ids.length) });
    }
    this.#leftCount -= ids.length;
    this.#lastId = last;
  }

  /** @throws SnowlaneError INVALID_RESPONSE, if the stream has ended too early. */
  end(): void {
    if (this.#leftCount === 0) return;
    const metadata = { missing_count: String(this.#leftCount) };
    throw invalidResponse(`The server's stream ended ${this.#leftCount} IDs early.`, metadata);
  }
}
