import { uptime } from "node:os";

/** The two clocks, told apart by meaning. This file alone in src/ reads them; everything else is given a Clock. */
export interface Clock {
  /** Wall time for timestamps: Unix milliseconds, whole. May step either way at any moment. */
  nowMs(): number;
  /**
   * For elapsed time: milliseconds since an arbitrary start, never falling. May stand still while the machine is
   * suspended.
   */
  monotonicMs(): number;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Runs things later; given wherever time may be simulated. */
export interface Timers {
  /**
   * Runs `task` once after `delayMs` of monotonic time, or later.
   *
   * @returns What cancels it; harmless afterwards.
   */
  after(delayMs: number, task: () => void): () => void;
}

/** The timers of this process. They keep it alive while they run. */
export const systemTimers: Timers = {
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs` of monotonic time. */
export function delay(timers: Timers, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(delayMs, resolve);
  });
}

/**
 * Time since the machine started, suspended time included: what the monotonic clock leaves out shows as the difference
 * of both. undefined where the platform derives it from the wall clock.
 */
export function systemUptimeMs(): number | undefined {
  return process.platform === "linux" ? uptime() * 1_000 : undefined;
}
