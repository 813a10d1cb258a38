/** The client's source of time; tests replace it with a fake one. */
export interface Clock {
  /** Milliseconds since an arbitrary start; it never goes back. */
  monotonicMs(): number;
  /** Unix milliseconds. They go on while the machine is suspended, which the monotonic clock may not. */
  wallMs(): number;
  /**
   * Milliseconds since the machine started, including those in which it was suspended. It distinguishes a suspended
   * machine from a step of the wall clock; without it, both count as elapsed time.
   */
  uptimeMs?(): number;
  /**
   * Runs `work` after `delayMs`, or later.
   *
   * @param keepsProcess - Whether the process must live until then: it must while a caller waits, and does not have
   * to for background work.
   * @returns A function that cancels it; it does nothing once `work` has run.
   */
  schedule(delayMs: number, work: () => void, keepsProcess: "keeps process" | "lets it end"): () => void;
}

/** The longest delay of a runtime's timer: a longer one does not fit into 32 bits, and the timer would run at once. */
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
