package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** How long to leave alone what has failed. */
final class Backoff {

  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int DOUBLINGS_MAX = 10;

  private Backoff() {}

  /**
   * A wait drawn evenly from 0 to min(5 s, 100 ms x 2^failures), so that the clients of a server that restarts do not
   * come back in step; but never shorter than the server asked for, and spread above that.
   *
   * @param failuresInRow at least 1
   */
  static long nanos(int failuresInRow, Optional<Duration> retryAfter, DoubleSupplier random) {
    long limitNanos = Math.min(MAX_NANOS, FIRST_NANOS << Math.min(failuresInRow, DOUBLINGS_MAX));
    return Math.max((long) (random.getAsDouble() * limitNanos), stretched(retryAfter, random));
  }

  /** A wait made longer by up to a half. */
  static long stretched(Optional<Duration> wait, DoubleSupplier random) {
    long nanos = wait.map(Times::nanos).orElse(0L);
    return nanos + (long) (random.getAsDouble() * nanos / 2);
  }
}
