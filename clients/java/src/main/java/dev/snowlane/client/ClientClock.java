package dev.snowlane.client;

import java.util.OptionalLong;

/** Time and timers. A test may give {@code FakeClock}; everything else takes {@link #system()}. */
public interface ClientClock {

  /** Something that will be done, unless it is cancelled before. */
  interface Timer {
    /** Cancels it; without effect once it has begun. */
    void cancel();
  }

  /** Elapsed time in nanoseconds since an arbitrary start, never falling. */
  long nanos();

  /** Wall time in Unix milliseconds; may step either way. */
  long nowMs();

  /**
   * Milliseconds since the machine started, suspended or not: they tell a suspend from a step of the wall clock.
   * Default: empty, and then both count as time.
   */
  default OptionalLong uptimeMs() {
    return OptionalLong.empty();
  }

  /**
   * Does {@code task} once {@code delayNanos} have passed, on a thread of its own; at once if it is 0. The task must
   * return soon.
   */
  Timer after(long delayNanos, Runnable task);

  /** The clocks of this machine, and one daemon thread for all timers, which ends when there are none. */
  static ClientClock system() {
    return SystemClock.INSTANCE;
  }
}
