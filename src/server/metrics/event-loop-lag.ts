import { monitorEventLoopDelay } from "node:perf_hooks";

/** How often the delay is measured, in milliseconds. */
const resolutionMs = 20;
/** How long it is measured after the last scrape. */
const lingerMs = 60_000;

/** Measures how late the event loop is, from the first scrape to a minute after the last. */
export class Lag {
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #stopping: NodeJS.Timeout | undefined;

  /** The delay that 1 in 100 measurements exceeded since the last call; 0 in the first. Milliseconds. */
  readMs(): number {
    clearTimeout(this.#stopping);
    // A measurement includes the pause before it.
    const p99Ms = this.#delays.count === 0 ? 0 : this.#delays.percentile(99) / 1e6 - resolutionMs;
    this.#delays.reset();
    this.#delays.enable();
    this.#stopping = setTimeout(() => this.#delays.disable(), lingerMs).unref();
    return Math.max(0, p99Ms);
  }
}
