import type { BatchNextIdsResponse } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { invalidResponse } from "./errors.ts";
import type { ChunkReader } from "./rpc-calls.ts";
import { idRangeOfServers } from "./run-source.ts";

/**
 * Checks the chunks of one server's stream: no chunk may be empty, there must be no more IDs than were asked for, and
 * all of them must rise.
 */
export class ChunkCheck implements ChunkReader<BatchNextIdsResponse, bigint> {
  #leftCount: number;
  #lastId = idRangeOfServers.min - 1n;

  constructor(count: number) {
    this.#leftCount = count;
  }

  take({ ids }: BatchNextIdsResponse): readonly bigint[] {
    if (ids.length === 0 || ids.length > this.#leftCount)
      throw invalidResponse("The server sent an impossible chunk.", { count: String(ids.length) });
    let lastId = this.#lastId;
    for (const id of ids) {
      if (id <= lastId || id > idRangeOfServers.max) {
        const metadata = { id: String(id), previous_id: String(lastId) };
        throw invalidResponse("The server sent IDs that are not in ascending order.", metadata);
      }
      lastId = id;
    }
    this.#leftCount -= ids.length;
    this.#lastId = lastId;
    return ids;
  }

  end(): void {
    if (this.#leftCount === 0) return;
    const metadata = { missing_count: String(this.#leftCount) };
    throw invalidResponse(`The server's stream ended ${this.#leftCount} IDs early.`, metadata);
  }
}
