package dev.snowlane.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations as nanoseconds. */
final class Times {

  private static final Duration LONGEST = Duration.ofDays(365);

  private Times() {}

  /** The nanoseconds of a duration; those of a year where it is longer, so that sums do not overflow. */
  static long nanos(Duration duration) {
    if (duration.compareTo(LONGEST) > 0) return TimeUnit.DAYS.toNanos(365);
    if (duration.isNegative()) return 0;
    return duration.toNanos();
  }
}
