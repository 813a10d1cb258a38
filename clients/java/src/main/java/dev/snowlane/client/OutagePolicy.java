package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * How much to keep in stock so that IDs go on while no server answers, and how gently to fill it. Fed once a second
 * with what was handed out. Pure; guarded by the buffer's lock. docs/internals/client-contract.md has the rules.
 */
final class OutagePolicy {

  /** The stock is looked after so often. */
  static final long TOP_UP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The stock is in so many answers at most, beside the one in use. */
  static final int SPARE_ANSWERS_MAX = 4_096;

  /** The rate is measured over so long. */
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * The target lasts so much longer than the outage, for a client may notice that its servers are back only after two
   * back-offs of 5 s: that of the endpoint and that of the buffer.
   */
  private static final Duration MARGIN = Duration.ofSeconds(10);

  /** One refill closes this part of what is missing, so that a fleet that starts does not flood its servers. */
  private static final double FILL_PART = 1.0 / 30;

  private static final double NANOS_PER_SECOND = 1e9;

  /** How many IDs had been handed out at a moment. */
  private record Sample(long nanos, long handedOut) {}

  private final int countMin;
  private final int countMax;
  private final long stockMax;
  private final double targetSeconds;

  /** Oldest first, over the window. */
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  private long askedAt;

  OutagePolicy(PrefetchOptions options, Duration outage) {
    countMin = options.countMin();
    countMax = options.countMax();
    stockMax = options.stockMax();
    // Halfway to the age at which IDs are dropped, at most: what is used at an even rate is used before that age.
    Duration halfway = outage.plus(options.maxAge()).dividedBy(2);
    Duration wanted = outage.plus(MARGIN);
    targetSeconds = (wanted.compareTo(halfway) < 0 ? wanted : halfway).toNanos() / NANOS_PER_SECOND;
  }

  /** IDs handed out a second, over the last 60 s or since the buffer woke up. */
  double ratePerSecond() {
    if (samples.size() < 2) return 0;
    Sample first = samples.getFirst();
    Sample last = samples.getLast();
    long elapsedNanos = last.nanos - first.nanos;
    return elapsedNanos <= 0 ? 0 : (last.handedOut - first.handedOut) * NANOS_PER_SECOND / elapsedNanos;
  }

  /** Takes in how many IDs have been handed out by now. */
  void note(long nowNanos, long handedOut) {
    samples.add(new Sample(nowNanos, handedOut));
    while (nowNanos - samples.getFirst().nanos > WINDOW_NANOS) samples.removeFirst();
  }

  /** Forgets what was handed out so far: the buffer goes to sleep. */
  void forget() {
    samples.clear();
  }

  /** IDs to ask for, of a stock of {@code stock}; 0 if it is full. */
  int size(long stock, long handedOut) {
    double missing = Math.min(ratePerSecond() * targetSeconds, stockMax) - stock;
    if (missing <= 0) return 0;
    double wanted = Math.ceil(Math.min(missing, handedOut - askedAt + missing * FILL_PART));
    return (int) Math.min(Math.max(wanted, countMin), countMax);
  }

  /** Takes in that a reservation is sent: the next one asks for what is handed out from here on. */
  void asked(long handedOut) {
    askedAt = handedOut;
  }
}
