package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** For how long the refills of a buffer have failed in a row. Guarded by the buffer's lock. */
final class FailingSpell {

  private static final int FAILURES_MIN = 3;
  private static final long LAST_MIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** When the first of them was sent. */
  private long sinceNanos;

  private boolean isTold;

  /** Records that a refill failed. Returns whether to report it, which is once a spell. */
  boolean failed(long sentNanos, long nowNanos, int failuresInRow) {
    if (failuresInRow == 1) sinceNanos = sentNanos;
    if (isTold || (failuresInRow < FAILURES_MIN && nowNanos - sinceNanos < LAST_MIN_NANOS)) return false;
    isTold = true;
    return true;
  }

  /** Records that a refill succeeded. Returns for how long refills had failed; empty if that was never reported. */
  Optional<Duration> worked(long nowNanos) {
    boolean wasTold = isTold;
    isTold = false;
    return wasTold ? Optional.of(Duration.ofNanos(nowNanos - sinceNanos)) : Optional.empty();
  }
}
