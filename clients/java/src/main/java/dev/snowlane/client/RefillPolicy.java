package dev.snowlane.client;

/**
 * How many IDs to reserve and when: about a second of what the callers use. Pure; guarded by the buffer's lock.
 *
 * The rules were found by simulating rates of 10 to 20,000 IDs a second, steady and in bursts, against servers of which
 * one answer in a thousand is late: they let the fewest calls wait and throw the fewest IDs away.
 *
 * <p>Example: callers use 2,000 IDs a second, and nobody changed the bounds of 32 and 65,536.
 *
 * <ul>
 *   <li>The first reservation asks for 32: no rate is known.
 *   <li>Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a
 *       quarter, 500 left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms
 *       1,600, which is then the mark.
 *   <li>Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for
 *       32 again.
 * </ul>
 */
final class RefillPolicy {

  private static final double NANOS_PER_SECOND = 1e9;

  /** No rate is measured over less: a burst of 32 calls in a microsecond says nothing about the next second. */
  private static final long ELAPSED_MIN_NANOS = 10_000_000;

  private static final double ROUND_TRIPS_AHEAD = 8;
  private static final double ROUND_TRIP_WEIGHT = 0.125;

  private final int countMin;
  private final int countMax;
  private double ratePerSecond;
  private double meanRttNanos;

  RefillPolicy(PrefetchOptions options) {
    countMin = options.countMin();
    countMax = options.countMax();
  }

  /** Takes in what was handed out since the last measurement. The rate rises at once and falls by halves. */
  void measured(long count, long elapsedNanos) {
    double measured = count * NANOS_PER_SECOND / Math.max(elapsedNanos, ELAPSED_MIN_NANOS);
    ratePerSecond = Math.max(measured, ratePerSecond / 2);
  }

  /** Takes in how long a successful reservation took. */
  void answered(long elapsedNanos) {
    meanRttNanos += (meanRttNanos == 0 ? 1 : ROUND_TRIP_WEIGHT) * (elapsedNanos - meanRttNanos);
  }

  /** How many IDs to reserve next. */
  int size() {
    return (int) Math.min(Math.max(ratePerSecond, countMin), countMax);
  }

  /** With how many IDs left of an answer of {@code count} to ask for the next. */
  int mark(int count) {
    double ahead = ROUND_TRIPS_AHEAD * ratePerSecond * meanRttNanos / NANOS_PER_SECOND;
    return (int) Math.min(Math.max(ahead, count / 4), count);
  }

  double ratePerSecond() {
    return ratePerSecond;
  }

  long meanRttNanos() {
    return (long) meanRttNanos;
  }
}
