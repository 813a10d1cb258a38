import { uptime } from "node:os";

/** The two clocks, distinguished by meaning. Only this file in src/ reads them; all other code is given a Clock. */
export interface Clock {
  /** Wall time for timestamps: Unix milliseconds, whole. May step either way at any moment. */
  nowMs(): number;
  /**
   * For elapsed time: milliseconds since an arbitrary start, never falling. May stop while the machine is suspended.
   */
  monotonicMs(): number;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Runs tasks later; passed to all code whose time may be simulated. */
export interface Timers {
  /**
   * Runs `task` once after `delayMs` of monotonic time, or later.
   *
   * @returns A function that cancels the task; harmless after it ran.
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
 * Time since the machine started, suspended time included. The difference to the monotonic clock is the time that the
 * machine slept. undefined where the platform derives it from the wall clock.
 */
export function systemUptimeMs(): number | undefined {
  return process.platform === "linux" ? uptime() * 1_000 : undefined;
}
