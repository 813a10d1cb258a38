/** Time as the client sees it; a fake one stands in for it in tests. */
export interface Clock {
  /** Milliseconds since an arbitrary start, never falling. */
  monotonicMs(): number;
  /** Unix milliseconds. They go on while the machine is suspended, which the monotonic clock may not. */
  wallMs(): number;
  /**
   * Milliseconds since the machine started, those in which it was suspended among them. It tells a suspend from a step
   * of the wall clock; without it, both count as time.
   */
  uptimeMs?(): number;
  /**
   * Runs `work` after `delayMs`, or later.
   *
   * @param keepsProcess - Whether the process must live until then: it must while a caller waits, and does not have
   * to for background work.
   * @returns A function that calls it off; without effect once it has run.
   */
  schedule(delayMs: number, work: () => void, keepsProcess: "keeps process" | "lets it end"): () => void;
}

/** Timers of runtimes run at once where the delay is longer: it does not fit into 32 bits. */
const delayMsMax = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  schedule: (delayMs, work, keepsProcess) => {
    const timer = setTimeout(work, Math.min(Math.max(0, delayMs), delayMsMax));
    if (keepsProcess === "lets it end") unref(timer);
    return () => clearTimeout(timer);
  },
};

/** Timers are numbers in browsers, where nothing is kept alive by one. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
}
