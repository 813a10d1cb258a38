import { IssuedRuns } from "../support/worlds/issued-runs.ts";
import type { IdRun } from "../../src/snowflake/run.ts";

/**
 * Looks for IDs that come twice in a time without end, and holds those of one part of it only.
 *
 * Between two parts no call is under way, and one server issues IDs that rise: so no ID of a part may be below the
 * highest of the parts before.
 */
export class RisingIds {
  idCount = 0;
  #part = new IssuedRuns();
  #lowest: bigint | undefined;
  #highest = -1n;
  #highestBefore = -1n;

  /** Takes neighbours of one message, in the order in which they came. */
  add(ids: readonly bigint[]): void {
    this.#part.addIds(ids, 0);
    if (ids.length > 0) this.#note(ids[0]!, ids.at(-1)!, ids.length);
  }

  addRun(run: IdRun): void {
    this.#part.add(run);
    this.#note(run.firstId, run.firstId + BigInt(run.count - 1) * run.stride, run.count);
  }

  /** Ends a part. Returns how many of its IDs came twice, or might have come before. */
  endPart(): number {
    const isBelow = this.#lowest !== undefined && this.#lowest <= this.#highestBefore;
    const count = this.#part.countRepeated() + (isBelow ? 1 : 0);
    this.#part = new IssuedRuns();
    this.#lowest = undefined;
    this.#highestBefore = this.#highest;
    return count;
  }

  #note(first: bigint, last: bigint, count: number): void {
    this.idCount += count;
    if (this.#lowest === undefined || first < this.#lowest) this.#lowest = first;
    if (last > this.#highest) this.#highest = last;
  }
}
