package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

/**
 * Sends one reservation at a time and backs off after a failure. It owns the request: no caller's interrupt or time-out
 * ends one.
 *
 * Its methods are called with the buffer's lock held, and so are the buffer's that it calls.
 */
final class Refiller {

  /** Who takes what comes. */
  interface Taker {
    /**
     * @throws SnowlaneException if the answer is refused, which counts as a failed reservation
     */
    int take(List<IdRun> runs, int asked, long sentNanos);

    void failed(SnowlaneException error);

    void backOffEnded();
  }

  /** One request on its way. The answer to any other than the current one is dropped whole. */
  private static final class Flight {
    final int asked;
    long sentNanos;
    CompletableFuture<List<IdRun>> answer;

    Flight(int asked) {
      this.asked = asked;
    }
  }

  private final RunSource source;
  private final Duration timeout;
  private final ClientClock clock;
  private final ClientObserver observer;
  private final RefillPolicy policy;
  private final ReentrantLock lock;
  private final Taker taker;
  private Flight flight;
  private ClientClock.Timer backOff;
  private int failuresInTurn;

  Refiller(
      RunSource source,
      Duration timeout,
      ClientClock clock,
      ClientObserver observer,
      RefillPolicy policy,
      ReentrantLock lock,
      Taker taker) {
    this.source = source;
    this.timeout = timeout;
    this.clock = clock;
    this.observer = observer;
    this.policy = policy;
    this.lock = lock;
    this.taker = taker;
  }

  /** Whether a request may be sent: none is on its way, and no back-off runs. */
  boolean isReady() {
    return flight == null && backOff == null;
  }

  void request() {
    Flight next = new Flight(policy.size());
    flight = next;
    clock.after(0, () -> send(next));
  }

  /** Forgets the request that is on its way: if it is answered, the answer is dropped whole. Ends a back-off. */
  void abandon() {
    Flight abandoned = flight;
    // Forgotten first: cancelling calls back.
    flight = null;
    if (abandoned != null && abandoned.answer != null) abandoned.answer.cancel(true);
    if (backOff != null) backOff.cancel();
    backOff = null;
  }

  private void send(Flight sent) {
    sent.sentNanos = clock.nanos();
    CompletableFuture<List<IdRun>> answer;
    try {
      answer = Objects.requireNonNull(source.reserve(sent.asked, timeout), "The source gave nothing.");
    } catch (Throwable error) {
      // Whatever it was: a request that is never settled would be the last.
      answer = CompletableFuture.failedFuture(error);
    }
    lock.lock();
    try {
      sent.answer = answer;
      if (flight != sent) answer.cancel(true);
    } finally {
      lock.unlock();
    }
    // The source keeps to the time itself; this is for one that never answers.
    long guardNanos = Times.nanos(timeout) / 4 * 5;
    ClientClock.Timer guard = clock.after(guardNanos, () -> settle(sent, null, unanswered()));
    answer.whenComplete(
        (runs, error) -> {
          guard.cancel();
          settle(sent, runs, error);
        });
  }

  private SnowlaneException unanswered() {
    return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, "No answer came within " + timeout.toMillis() + " ms.");
  }

  private void settle(Flight settled, List<IdRun> runs, Throwable error) {
    int received = 0;
    SnowlaneException failure = null;
    double idsPerSecond;
    lock.lock();
    try {
      if (flight != settled) return;
      flight = null;
      if (error != null) throw SnowlaneException.from(error);
      received = taker.take(runs, settled.asked, settled.sentNanos);
      failuresInTurn = 0;
    } catch (RuntimeException thrown) {
      failure = SnowlaneException.from(thrown);
      startBackOff(failure);
      taker.failed(failure);
    } finally {
      idsPerSecond = policy.idsPerSecond();
      lock.unlock();
    }
    Duration duration = Duration.ofNanos(clock.nanos() - settled.sentNanos);
    Optional<ErrorReason> reason = Optional.ofNullable(failure).map(SnowlaneException::reason);
    ClientObserver.Refill refill = new ClientObserver.Refill(settled.asked, received, duration, idsPerSecond, reason);
    Observers.tell(() -> observer.onRefill(refill));
  }

  /**
   * A random wait, so that clients that failed together do not come back together, and never less than the server asks
   * for.
   */
  private void startBackOff(SnowlaneException failure) {
    failuresInTurn++;
    DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    long waitNanos = Backoff.nanos(failuresInTurn, failure.retryAfter(), random);
    // Never 0: the clock may do at once what is due at once, and the lock is held.
    backOff = clock.after(Math.max(waitNanos, 1), this::endBackOff);
  }

  private void endBackOff() {
    lock.lock();
    try {
      backOff = null;
      taker.backOffEnded();
    } finally {
      lock.unlock();
    }
  }
}
