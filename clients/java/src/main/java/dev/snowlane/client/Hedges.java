package dev.snowlane.client;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Says when and where a refill that has no answer is sent a second time. Attempts 13 of
 * docs/internals/client-contract.md has the rule.
 */
final class Hedges {

  /** A refill is sent a second time after this many mean round trips without an answer, */
  private static final long ROUND_TRIPS = 4;

  /** but not before this much time has passed, */
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** or this much where a connection must be opened. */
  private static final long OPENING_LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** For this long after the quota was exceeded, no hedge is sent. */
  private static final long QUOTA_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The weight of the last round trip in the mean. */
  private static final long RTT_PART = 8;

  /**
   * Where the second request of an attempt goes, and when.
   *
   * @param isSecond over another connection of the same endpoint
   */
  record Plan(Endpoint endpoint, boolean isSecond, long delayNanos) {}

  private final ClientClock clock;
  private final Endpoints endpoints;
  private final Connections connections;
  private final long attemptNanos;

  // This object guards all fields below.

  /** 0 before the first answer. */
  private long meanRttNanos;

  private Optional<Long> quotaAtNanos = Optional.empty();

  Hedges(ClientClock clock, Endpoints endpoints, Connections connections, Duration attemptTimeout) {
    this.clock = clock;
    this.endpoints = endpoints;
    this.connections = connections;
    this.attemptNanos = Times.nanos(attemptTimeout);
  }

  Plan plan(Endpoint first) {
    // Endpoints that should answer at once come first, then those whose connection must be opened, and last those that
    // owe an answer.
    List<Endpoint> others = endpoints.othersUp(first);
    Optional<Endpoint> best = others.stream().min(Comparator.comparing(connections::state));
    if (best.isEmpty()) return new Plan(first, true, delayNanos(true));
    boolean mustOpen = connections.state(best.get()) == Connections.State.MUST_OPEN;
    return new Plan(best.get(), false, delayNanos(mustOpen));
  }

  /** Whether the second request may be sent now. */
  boolean isPermitted(Plan plan) {
    return !isPaused() && (!plan.isSecond() || connections.maySecond(plan.endpoint()));
  }

  /** Records how long the answer to a refill took. */
  synchronized void noteAnswer(long tookNanos) {
    meanRttNanos = meanRttNanos == 0 ? tookNanos : meanRttNanos + (tookNanos - meanRttNanos) / RTT_PART;
  }

  /** Records that the caller's quota is used up. */
  synchronized void noteQuota() {
    quotaAtNanos = Optional.of(clock.nanos());
  }

  private synchronized boolean isPaused() {
    return quotaAtNanos.filter(at -> clock.nanos() - at < QUOTA_PAUSE_NANOS).isPresent();
  }

  private synchronized long delayNanos(boolean mustOpen) {
    long wanted = Math.min(Math.max(ROUND_TRIPS * meanRttNanos, LEAST_NANOS), attemptNanos / 2);
    if (meanRttNanos == 0) wanted = attemptNanos / 4;
    return mustOpen ? Math.max(wanted, OPENING_LEAST_NANOS) : wanted;
  }
}
