package dev.snowlane.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;

/**
 * Chooses among the servers of one deployment. It stays with one server, so that IDs rise, leaves it when it fails, and
 * never returns to it in step with other clients. docs/internals/client-contract.md has the rules.
 */
final class Endpoints {

  /** Clients that lose a server at the same moment move to the next one at random times within this span. */
  private static final long SPREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * A client moves to another server after a time between these two even without a failure, so that clients spread
   * again over servers that came back.
   */
  private static final long STAY_MIN_NANOS = TimeUnit.MINUTES.toNanos(5);

  private static final long STAY_MAX_NANOS = TimeUnit.MINUTES.toNanos(15);

  private static final int HEDGES_TO_MOVE = 2;

  /** The next endpoint, how long to wait before calling it, and its last failure. */
  record Choice(Endpoint endpoint, long waitNanos, Optional<SnowlaneException> lastFailure) {}

  private final ClientClock clock;
  private final DoubleSupplier random;

  /** Called with each endpoint whose address is gone, without the lock. */
  private Consumer<Endpoint> onGone = gone -> {};

  // This object guards all fields below.
  private List<Endpoint> all;
  private Endpoint current;

  /** The endpoint that was last reported as the one in use. */
  private Endpoint announced;

  private long moveAtNanos;
  private boolean hasAnswered;

  /** Refills in a row whose second request was answered first, by another endpoint. */
  private int hedgesWonInRow;

  Endpoints(List<EndpointAddress> addresses, ClientClock clock, DoubleSupplier random) {
    this.clock = clock;
    this.random = random;
    long nowNanos = clock.nanos();
    this.all = addresses.stream().map(address -> new Endpoint(address, nowNanos)).toList();
    move(all);
    announced = current;
  }

  void onGone(Consumer<Endpoint> action) {
    onGone = action;
  }

  synchronized List<Endpoint> all() {
    return all;
  }

  /** The endpoint in use, if it has changed since the last call. */
  synchronized Optional<Endpoint> announceMove() {
    if (current == announced) return Optional.empty();
    announced = current;
    return Optional.of(current);
  }

  /** Whether all of these endpoints are down. */
  synchronized boolean areDown(List<Endpoint> some) {
    long nowNanos = clock.nanos();
    return some.stream().allMatch(endpoint -> endpoint.downUntilNanos - nowNanos > 0);
  }

  /** Puts endpoints in place of others. One that is in use and answers stays, and is returned. */
  List<Endpoint> replace(List<Endpoint> gone, List<Endpoint> come) {
    List<Endpoint> stay;
    List<Endpoint> left;
    synchronized (this) {
      stay = gone.stream().filter(this::isInUseAndAnswers).toList();
      left = gone.stream().filter(each -> !stay.contains(each)).toList();
      all = Stream.concat(all.stream().filter(each -> !left.contains(each)), come.stream()).toList();
      if (left.contains(current)) {
        // Replacing a name by its addresses does not count as a move.
        boolean isUnheard = announced == current && current.address.ip().isEmpty();
        move(all);
        if (isUnheard) announced = current;
      }
    }
    left.forEach(onGone);
    return stay;
  }

  private boolean isInUseAndAnswers(Endpoint endpoint) {
    return endpoint == current && endpoint.failuresInRow == 0 && endpoint.address.ip().isPresent();
  }

  synchronized Choice choose() {
    long nowNanos = clock.nanos();
    List<Endpoint> up = all.stream().filter(endpoint -> endpoint.downUntilNanos - nowNanos <= 0).toList();
    long waitNanos = 0;
    if (up.isEmpty()) {
      Comparator<Endpoint> byReturn = Comparator.comparingLong(endpoint -> endpoint.downUntilNanos - nowNanos);
      current = all.stream().min(byReturn).orElseThrow();
      waitNanos = current.downUntilNanos - nowNanos;
    } else if (!up.contains(current)) {
      move(up);
      waitNanos = (long) (random.getAsDouble() * SPREAD_NANOS);
    } else if (nowNanos - moveAtNanos >= 0) {
      move(up);
    }
    return new Choice(current, waitNanos, current.lastFailure);
  }

  /** Whether a server has answered, with success or an error. */
  synchronized boolean hasAnswered() {
    return hasAnswered;
  }

  /** Records that a server answered, with success or an error. */
  synchronized void noteAnswer() {
    hasAnswered = true;
  }

  synchronized void noteSuccess(Endpoint endpoint) {
    hasAnswered = true;
    endpoint.failuresInRow = 0;
    endpoint.lastFailure = Optional.empty();
  }

  /**
   * Records that an attempt failed: the endpoint is down for a while.
   *
   * @return the error, or {@link SnowlaneException#neverAnswered()} of it if there is no server at any endpoint and no
   *     server ever answered
   */
  synchronized SnowlaneException noteFailure(Endpoint endpoint, SnowlaneException failure) {
    endpoint.failuresInRow++;
    // Before the first answer, each call should fail within a second.
    boolean isEarly = !hasAnswered && failure.isAbsence();
    int failures = isEarly ? Math.min(endpoint.failuresInRow, 2) : endpoint.failuresInRow;
    endpoint.downUntilNanos = clock.nanos() + Backoff.nanos(failures, failure.retryAfter(), random);
    endpoint.lastFailure = Optional.of(failure);
    boolean isNobodyThere =
        all.stream().allMatch(each -> each.lastFailure.filter(SnowlaneException::isAbsence).isPresent());
    if (hasAnswered || !isNobodyThere) return failure;
    endpoint.lastFailure = Optional.of(failure.neverAnswered());
    return endpoint.lastFailure.get();
  }

  /**
   * Records that an attempt failed only because of its connection. The endpoint does not count as down for that, but
   * the next attempt goes to another that is up, if there is one.
   */
  synchronized void noteDarkConnection(Endpoint dark) {
    List<Endpoint> others = others(dark);
    if (current == dark && !others.isEmpty()) move(others);
  }

  /** The other endpoints that are up, in random order. */
  synchronized List<Endpoint> othersUp(Endpoint first) {
    List<Endpoint> others = new ArrayList<>(others(first));
    for (int last = others.size() - 1; last > 0; last--) {
      Collections.swap(others, last, (int) (random.getAsDouble() * (last + 1)));
    }
    return others;
  }

  /**
   * Records which endpoint was the first to answer a refill. The client moves to one that wins twice in a row although
   * it was asked later.
   */
  synchronized void noteHedge(Endpoint winner, boolean isOther) {
    hedgesWonInRow = isOther ? hedgesWonInRow + 1 : 0;
    if (hedgesWonInRow < HEDGES_TO_MOVE) return;
    hedgesWonInRow = 0;
    move(List.of(winner));
  }

  private List<Endpoint> others(Endpoint first) {
    long nowNanos = clock.nanos();
    return all.stream().filter(other -> other != first && other.downUntilNanos - nowNanos <= 0).toList();
  }

  private void move(List<Endpoint> among) {
    current = among.get((int) (random.getAsDouble() * among.size()));
    double stayNanos = STAY_MIN_NANOS + random.getAsDouble() * (STAY_MAX_NANOS - STAY_MIN_NANOS);
    moveAtNanos = clock.nanos() + (long) stayNanos;
  }
}
