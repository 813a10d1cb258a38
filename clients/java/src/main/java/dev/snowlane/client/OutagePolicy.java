package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * Decides how many IDs to keep for an outage of all servers, and how gradually to ask for them. It gets the counts once
 * a second. It is pure, and guarded by the buffer's lock. docs/internals/client-contract.md has the rules.
 */
final class OutagePolicy {

  /** How often the reserve is checked. */
  static final long TOP_UP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The most pieces that the reserve may consist of. */
  private static final long PIECES_MAX = 8_192;

  /** The window over which the rate is measured. */
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * The reserve lasts this much longer than the outage, because a client takes some time to notice that its servers are
   * back.
   */
  private static final Duration MARGIN = Duration.ofSeconds(10);

  /**
   * Each request asks for a part of the missing IDs: this time divided by the age up to which IDs count as young. So a
   * fleet that starts does not flood its servers.
   */
  private static final double FILL_MS = 16_000;

  private static final double NANOS_PER_MS = 1e6;

  /**
   * The size of a reserve.
   *
   * @param youngCount its IDs that are young
   */
  record Reserve(long youngCount, int pieceCount) {}

  private final int countMin;
  private final int countMax;
  private final double stockMax;
  private final double targetMs;
  private final long youngNanos;

  /** Oldest first, over the window. */
  private final ArrayDeque<RefillPolicy.Handed> samples = new ArrayDeque<>();

  OutagePolicy(PrefetchOptions options, Duration outage) {
    countMin = options.countMin();
    countMax = options.countMax();
    stockMax = options.stockMax();
    long outageNanos = outage.toNanos();
    long maxAgeNanos = options.maxAge().toNanos();
    // At most halfway to the age at which IDs are dropped: IDs that are used at an even rate are then used before that
    // age.
    targetMs = Math.min(outageNanos + MARGIN.toNanos(), (outageNanos + maxAgeNanos) / 2) / NANOS_PER_MS;
    long spareNanos = maxAgeNanos - outageNanos;
    // Never below an eighth of maxAge, so that at most about nine IDs are reserved for each one used.
    youngNanos = Math.max(Math.max(spareNanos * 3 / 4, spareNanos - WINDOW_NANOS), maxAgeNanos / 8);
  }

  /**
   * The age below which IDs count as young: they can still be used at the end of an outage that begins now. If all IDs
   * counted, the first ones would grow too old together, and an outage just before that would find a full reserve that
   * expires at once.
   */
  long youngNanos() {
    return youngNanos;
  }

  /** IDs handed out a second, over the last 60 s or since the buffer woke up. */
  double ratePerSecond() {
    if (samples.size() < 2) return 0;
    RefillPolicy.Handed first = samples.getFirst();
    RefillPolicy.Handed last = samples.getLast();
    double elapsedMs = last.msSince(first);
    return elapsedMs <= 0 ? 0 : (last.count() - first.count()) * 1_000.0 / elapsedMs;
  }

  /** Records how many IDs have been handed out so far. */
  void noteHandedOut(RefillPolicy.Handed now) {
    samples.add(now);
    while (now.nanos() - samples.getFirst().nanos() > WINDOW_NANOS) samples.removeFirst();
  }

  /** Forgets the samples: the buffer goes to sleep. */
  void forget() {
    samples.clear();
  }

  /**
   * How many IDs to ask for; 0 if the reserve has what it needs.
   *
   * @param pieceSize how many IDs a piece has
   */
  int reserveCount(Reserve reserve, int pieceSize) {
    double missing = Math.min(ratePerSecond() * targetMs / 1_000, stockMax) - reserve.youngCount();
    long room = Math.min(countMax, (PIECES_MAX - reserve.pieceCount()) * pieceSize);
    if (missing <= 0 || room < countMin) return 0;
    double wanted = Math.ceil(missing * Math.min(1, FILL_MS / (youngNanos / NANOS_PER_MS)));
    return (int) Math.min(room, Math.max(countMin, wanted));
  }
}
