package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How a {@link PrefetchBuffer} works. Start from {@link #DEFAULTS} and change what is needed.
 *
 * @param maxAge the oldest that the reservation of a handed-out ID may be, 10 ms to 60 s
 * @param countMin the fewest IDs to ask for, 1 to {@code countMax}
 * @param countMax the most IDs to ask for, up to 1,048,576; a buffer holds at most twice as many
 * @param timeout how long a call waits for stock when it names no time of its own; empty: the client's, or 5 s over a
 *     source of one's own
 */
public record PrefetchOptions(Duration maxAge, int countMin, int countMax, Optional<Duration> timeout) {

  private static final Duration MAX_AGE_LEAST = Duration.ofMillis(10);
  private static final Duration MAX_AGE_MOST = Duration.ofSeconds(60);
  private static final int COUNT_LIMIT = 1 << 20;

  public static final PrefetchOptions DEFAULTS =
      new PrefetchOptions(Duration.ofSeconds(5), 32, 65_536, Optional.empty());

  /**
   * @throws IllegalArgumentException if a value lies outside its range
   */
  public PrefetchOptions {
    if (maxAge.compareTo(MAX_AGE_LEAST) < 0 || maxAge.compareTo(MAX_AGE_MOST) > 0) {
      throw new IllegalArgumentException("maxAge is " + maxAge + "; it must be 10 ms to 60 s.");
    }
    if (countMin < 1 || countMax < countMin || countMax > COUNT_LIMIT) {
      String found = "countMin is " + countMin + " and countMax " + countMax;
      throw new IllegalArgumentException(found + "; they must rise within 1 to " + COUNT_LIMIT + ".");
    }
    if (timeout.filter(time -> time.isNegative() || time.isZero()).isPresent()) {
      throw new IllegalArgumentException("timeout is " + timeout.get() + "; it must be positive.");
    }
  }

  public PrefetchOptions withMaxAge(Duration value) {
    return new PrefetchOptions(value, countMin, countMax, timeout);
  }

  public PrefetchOptions withCounts(int min, int max) {
    return new PrefetchOptions(maxAge, min, max, timeout);
  }

  public PrefetchOptions withTimeout(Duration value) {
    return new PrefetchOptions(maxAge, countMin, countMax, Optional.of(value));
  }
}
