package dev.snowlane.client;

import java.util.concurrent.TimeUnit;

/**
 * How many IDs to reserve and when: about a second of what the callers use. Pure; guarded by the buffer's lock.
 *
 * <p>Example: callers use 2,000 IDs a second, and the bounds are 32 and 65,536.
 *
 * <ul>
 *   <li>The first reservation asks for 32: no rate is known.
 *   <li>Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a
 *       quarter, 500 left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms
 *       1,600, which is then the mark.
 *   <li>A mark that is met within 250 ms asks for twice the answer at least: one of 32 asks for 64.
 *   <li>Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for
 *       32 again.
 * </ul>
 */
final class RefillPolicy {

  /**
   * A reservation should cover this much time at the current rate. The rate is measured over at least this time,
   * because a burst says little about the next second.
   */
  private static final double SPAN_MS = 1_000;

  /** The low-water mark covers this many round trips, so that callers do not notice one slow answer in a thousand. */
  private static final double ROUND_TRIPS_AHEAD = 8;

  /** The low-water mark is at least this part of an answer. */
  private static final double STOCK_PART = 0.25;

  private static final double ROUND_TRIP_WEIGHT = 0.125;

  /** If a mark is met within this time, the next reservation asks for twice as many IDs. */
  private static final long RUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final double NANOS_PER_MS = 1e6;

  /** How many IDs had been handed out at a given moment. */
  record Handed(long nanos, long count) {
    double msSince(Handed earlier) {
      return (nanos - earlier.nanos) / NANOS_PER_MS;
    }
  }

  private final int countMin;
  private final int countMax;
  private double ratePerSecond;

  /** 0 before the first answer. */
  private double meanRttMs;

  // The rate is measured from the older one: over 1 to 2 s while refills come each second. Null before the first.
  private Handed older;
  private Handed newer;

  /**
   * The least that the next reservation asks for: 0 until the mark of the answer in use is met, and 0 if that was not
   * soon.
   */
  private long growth;

  RefillPolicy(PrefetchOptions options) {
    countMin = options.countMin();
    countMax = options.countMax();
  }

  /** Records how many IDs have been handed out so far. The rate rises at once and falls by halves. */
  void noteHandedOut(Handed now) {
    if (newer == null || now.msSince(newer) >= SPAN_MS) {
      older = newer == null ? now : newer;
      newer = now;
    }
    double measured = (now.count - older.count) * 1_000.0 / Math.max(SPAN_MS, now.msSince(older));
    ratePerSecond = Math.max(measured, ratePerSecond / 2);
  }

  /** Records how long a successful reservation took. */
  void noteRoundTrip(long elapsedNanos) {
    double elapsedMs = elapsedNanos / NANOS_PER_MS;
    if (meanRttMs == 0) meanRttMs = elapsedMs;
    else meanRttMs += ROUND_TRIP_WEIGHT * (elapsedMs - meanRttMs);
  }

  /** Records that an answer is in use from now on. */
  void noteInUse() {
    growth = 0;
  }

  /** Records that the answer in use, of {@code count} IDs, was used down to its mark within the given time. */
  void noteMark(int count, long durationNanos) {
    growth = durationNanos <= RUSH_NANOS ? 2L * count : 0;
  }

  /** Records that the buffer goes to sleep: the measurements start over. */
  void forget() {
    older = null;
    newer = null;
  }

  /** How many IDs to ask for. */
  int reserveCount() {
    return bound(Math.max(growth, secondCount()));
  }

  /** How many IDs are used within a second, within the bounds of a reservation. */
  int secondCount() {
    return bound((long) Math.ceil(ratePerSecond * SPAN_MS / 1_000));
  }

  /** The mark of an answer of {@code count} IDs: the next answer is due once that many or fewer are left. */
  int lowWater(int count) {
    double ahead = ROUND_TRIPS_AHEAD * ratePerSecond * (meanRttMs / 1_000);
    return (int) Math.min(count, Math.ceil(Math.max(ahead, count * STOCK_PART)));
  }

  double ratePerSecond() {
    return ratePerSecond;
  }

  long meanRttNanos() {
    return (long) (meanRttMs * NANOS_PER_MS);
  }

  private int bound(long count) {
    return (int) Math.min(countMax, Math.max(countMin, count));
  }
}
