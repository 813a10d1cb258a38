package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** How long to wait after failures. */
final class Backoff {

  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final int DOUBLINGS_MAX = 10;

  /** The longest wait that a server may ask for. Its trouble may be over sooner, so a longer wait is cut to this. */
  private static final Duration RETRY_AFTER_MAX = Duration.ofSeconds(1);

  private static final Duration QUOTA_WAIT_MAX = Duration.ofSeconds(5);

  private Backoff() {}

  /**
   * A wait drawn evenly from 0 to min(2 s, 100 ms x 2^failures), so that the clients of a server that restarts do not
   * come back in step. It is never shorter than the server asked for, of which at most 1 s counts, and is spread above
   * that.
   *
   * @param failuresInRow at least 0
   */
  static long nanos(int failuresInRow, Optional<Duration> retryAfter, DoubleSupplier random) {
    long limitNanos = Math.min(MAX_NANOS, FIRST_NANOS << Math.min(failuresInRow, DOUBLINGS_MAX));
    return Math.max((long) (random.getAsDouble() * limitNanos), stretched(retryAfter, RETRY_AFTER_MAX, random));
  }

  /**
   * How long a buffer waits after reservations have failed. Where a server was UNAVAILABLE, the client already avoids
   * it for a while, so the buffer adds at most 100 ms: two back-offs would make callers wait for the sum. docs/adr/0222
   * has more.
   *
   * @param failuresInRow at least 1
   */
  static long refillNanos(int failuresInRow, SnowlaneException failure, DoubleSupplier random) {
    // Before the first answer, each call should fail within a second.
    if (failure.isFirstMistake()) return nanos(Math.min(failuresInRow, 2), failure.retryAfter(), random);
    boolean isLeftAlone = failure.code() == StatusCode.UNAVAILABLE && failure.endpoint().isPresent();
    return isLeftAlone ? nanos(0, Optional.empty(), random) : nanos(failuresInRow, failure.retryAfter(), random);
  }

  /** The wait that a server asked for, of which at most 5 s count, made longer by up to half of it. */
  static long quotaNanos(Optional<Duration> retryAfter, DoubleSupplier random) {
    return stretched(retryAfter, QUOTA_WAIT_MAX, random);
  }

  private static long stretched(Optional<Duration> wait, Duration most, DoubleSupplier random) {
    long nanos = Math.min(wait.map(Times::nanos).orElse(0L), most.toNanos());
    return nanos + (long) (random.getAsDouble() * nanos / 2);
  }
}
