package dev.snowlane.client;

import java.util.OptionalLong;

/** Time and timers. Tests may pass a {@code FakeClock}; everything else uses {@link #system()}. */
public interface ClientClock {

  /** A task that will run, unless it is cancelled before. */
  interface Timer {
    /** Cancels it; without effect once it has begun. */
    void cancel();
  }

  /** Elapsed time in nanoseconds since an arbitrary start; it never goes back. */
  long nanos();

  /** Wall time in Unix milliseconds; may step either way. */
  long nowMs();

  /**
   * Milliseconds since the machine started, including those in which it was suspended. They distinguish a suspended
   * machine from a step of the wall clock. Default: empty; both then count as elapsed time.
   */
  default OptionalLong uptimeMs() {
    return OptionalLong.empty();
  }

  /**
   * Runs {@code task} once {@code delayNanos} have passed, on a thread of its own; at once if it is 0. The task must
   * return soon.
   */
  Timer after(long delayNanos, Runnable task);

  /** The clocks of this machine, and one daemon thread for all timers, which ends when there are none. */
  static ClientClock system() {
    return SystemClock.INSTANCE;
  }
}
