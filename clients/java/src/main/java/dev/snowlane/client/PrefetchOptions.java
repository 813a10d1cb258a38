package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How a {@link PrefetchBuffer} works. Start from {@link #DEFAULTS} and change what is needed.
 *
 * @param maxAge the maximum age of an ID's reservation when the ID is handed out, 10 ms to 60 s; with {@code outage},
 *     {@code outage} to 1 h
 * @param countMin the fewest IDs to ask for, 1 to {@code countMax}
 * @param countMax the most IDs to ask for, up to 1,048,576; without {@code outage}, a buffer holds at most twice as
 *     many
 * @param timeout how long a call without a timeout of its own waits for stock; empty: the client's timeout, or 5 s for
 *     a buffer that draws from another source
 * @param outage keeps a reserve of IDs that lasts this long without any server, at the rate of the last minute, 1 s to
 *     30 min; empty: off. About 2.2 IDs are then reserved for each one used, and a stop leaves the reserve as a gap. In
 *     an outage, and only then, times in IDs are up to {@code maxAge} older than their use
 * @param stockMax the most IDs that {@code outage} aims at, not counting those that will soon be too old, 1 to
 *     1,000,000,000
 */
public record PrefetchOptions(
    Duration maxAge,
    int countMin,
    int countMax,
    Optional<Duration> timeout,
    Optional<Duration> outage,
    long stockMax) {

  private static final Duration MAX_AGE_LEAST = Duration.ofMillis(10);
  private static final Duration MAX_AGE_MOST = Duration.ofSeconds(60);
  private static final Duration MAX_AGE_MOST_OF_OUTAGE = Duration.ofHours(1);
  private static final Duration OUTAGE_LEAST = Duration.ofSeconds(1);
  private static final Duration OUTAGE_MOST = Duration.ofMinutes(30);
  private static final Duration OUTAGE_MARGIN = Duration.ofSeconds(30);
  private static final int COUNT_LIMIT = 1 << 20;
  private static final long STOCK_LIMIT = 1_000_000_000;

  public static final PrefetchOptions DEFAULTS =
      new PrefetchOptions(Duration.ofSeconds(5), 8, 65_536, Optional.empty(), Optional.empty(), 10_000_000);

  /**
   * @throws IllegalArgumentException if a value lies outside its range
   */
  public PrefetchOptions {
    if (outage.isPresent()) checkOutage(outage.get(), maxAge);
    else if (maxAge.compareTo(MAX_AGE_LEAST) < 0 || maxAge.compareTo(MAX_AGE_MOST) > 0) {
      throw new IllegalArgumentException("maxAge is " + maxAge + "; it must be 10 ms to 60 s.");
    }
    if (stockMax < 1 || stockMax > STOCK_LIMIT) {
      throw new IllegalArgumentException("stockMax is " + stockMax + "; it must be 1 to " + STOCK_LIMIT + ".");
    }
    if (countMin < 1 || countMax < countMin || countMax > COUNT_LIMIT) {
      String found = "countMin is " + countMin + " and countMax " + countMax;
      throw new IllegalArgumentException(found + "; they must be in ascending order within 1 to " + COUNT_LIMIT + ".");
    }
    if (timeout.filter(time -> time.isNegative() || time.isZero()).isPresent()) {
      throw new IllegalArgumentException("timeout is " + timeout.get() + "; it must be positive.");
    }
  }

  public PrefetchOptions withMaxAge(Duration value) {
    return new PrefetchOptions(value, countMin, countMax, timeout, outage, stockMax);
  }

  public PrefetchOptions withCounts(int min, int max) {
    return new PrefetchOptions(maxAge, min, max, timeout, outage, stockMax);
  }

  public PrefetchOptions withTimeout(Duration value) {
    return new PrefetchOptions(maxAge, countMin, countMax, Optional.of(value), outage, stockMax);
  }

  /**
   * Sets {@code outage}, and {@code maxAge} to twice {@code outage}, but at least {@code outage} plus 30 s; a later
   * {@link #withMaxAge} overrides that.
   */
  public PrefetchOptions withOutage(Duration value) {
    Duration twice = value.multipliedBy(2);
    Duration least = value.plus(OUTAGE_MARGIN);
    Duration age = twice.compareTo(least) < 0 ? least : twice;
    return new PrefetchOptions(age, countMin, countMax, timeout, Optional.of(value), stockMax);
  }

  public PrefetchOptions withStockMax(long value) {
    return new PrefetchOptions(maxAge, countMin, countMax, timeout, outage, value);
  }

  private static void checkOutage(Duration outage, Duration maxAge) {
    if (outage.compareTo(OUTAGE_LEAST) < 0 || outage.compareTo(OUTAGE_MOST) > 0) {
      throw new IllegalArgumentException("outage is " + outage + "; it must be 1 s to 30 min.");
    }
    if (maxAge.compareTo(outage) < 0 || maxAge.compareTo(MAX_AGE_MOST_OF_OUTAGE) > 0) {
      throw new IllegalArgumentException("maxAge is " + maxAge + "; it must be " + outage + " (outage) to 1 h.");
    }
  }
}
