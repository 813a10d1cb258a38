import { renameSync, writeFileSync } from "node:fs";
import { findTool } from "../support/fetch/tools.ts";

/** A wall clock of a server that can be stepped while it runs and while it is down. Its monotonic clock stays true. */
export class FakedClock {
  /** The variables that the server's environment needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #path: string;
  #offsetMs = 0;

  private constructor(path: string, library: string) {
    this.#path = path;
    this.environment = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_NO_CACHE: "1",
      NO_FAKE_STAT: "1",
    };
    this.step(0);
  }

  /** @param path - A file that is to hold the offset. */
  static async create(path: string): Promise<FakedClock> {
    return new FakedClock(path, (await findTool("libfaketime")).path);
  }

  /** How far the clock is ahead of the machine's. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Steps the clock: back where `stepMs` is negative. */
  step(stepMs: number): void {
    this.#offsetMs += stepMs;
    const sign = this.#offsetMs < 0 ? "" : "+";
    // In one move: the file is read with every reading of the clock.
    writeFileSync(`${this.#path}.next`, `${sign}${(this.#offsetMs / 1_000).toFixed(3)}`);
    renameSync(`${this.#path}.next`, this.#path);
  }
}
