package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

/**
 * Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed. It owns the
 * reservation: no caller's interrupt or time-out ends one.
 *
 * Guarded by the buffer's lock, which a caller holds where nothing else is said. The age of an answer counts from
 * before its first attempt: docs/adr/0094 says why.
 */
final class Refiller {

  /** One reservation on its way. The answer to any other than the current one is dropped whole. */
  private static final class Flight {
    final int asked;
    final double ratePerSecond;
    long sentNanos;
    CompletableFuture<List<IdRun>> answer;

    Flight(int asked, double ratePerSecond) {
      this.asked = asked;
      this.ratePerSecond = ratePerSecond;
    }
  }

  private final RunSource source;
  private final Duration maxAge;
  private final Duration timeout;
  private final ClientClock clock;
  private final ClientObserver observer;
  private final RefillPolicy policy;

  /** Null: no stock is kept for an outage. */
  private final OutagePolicy outage;

  private final ReentrantLock lock;
  private final Stock stock;
  private final Waiters waiters;
  private Flight flight;
  private ClientClock.Timer backOff;

  /** Set while the stock for an outage is looked after. */
  private ClientClock.Timer topUp;

  private boolean isDue;
  private boolean closed;
  private SnowlaneException lastFailure;
  private int failuresInRow;
  private long failures;
  private long refills;
  private long measuredClaims;
  private long measuredNanos;

  /**
   * @param timeout how long a reservation may take
   */
  Refiller(
      RunSource source,
      PrefetchOptions options,
      Duration timeout,
      ClientClock clock,
      ClientObserver observer,
      ReentrantLock lock,
      Stock stock,
      Waiters waiters) {
    this.source = source;
    this.maxAge = options.maxAge();
    this.timeout = timeout;
    this.clock = clock;
    this.observer = observer;
    this.policy = new RefillPolicy(options);
    this.outage = options.outage().map(time -> new OutagePolicy(options, time)).orElse(null);
    this.lock = lock;
    this.stock = stock;
    this.waiters = waiters;
    this.measuredNanos = clock.nanos();
  }

  RefillPolicy policy() {
    return policy;
  }

  boolean isClosed() {
    return closed;
  }

  /** Answers that were taken into stock. */
  long refills() {
    return refills;
  }

  /** Reservations that failed, or whose answer was refused or too late. */
  long failures() {
    return failures;
  }

  /** Why the last reservation failed; null if it succeeded. */
  SnowlaneException lastFailure() {
    return lastFailure;
  }

  /**
   * @throws SnowlaneException CLIENT_CLOSED
   */
  void refuseIfClosed() {
    if (closed) throw new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The buffer is closed.");
  }

  /** Asks for the next answer, unless one is on its way or spare, or a failure is too fresh. */
  void ask() {
    isDue = stock.answerCount() <= 1;
    reserveIfDue();
  }

  /** Forgets the reservation on its way and ends a back-off. If the reservation is answered, its answer is dropped. */
  void close() {
    closed = true;
    Flight abandoned = flight;
    // Forgotten first: cancelling calls back.
    flight = null;
    if (abandoned != null && abandoned.answer != null) abandoned.answer.cancel(true);
    if (backOff != null) backOff.cancel();
    backOff = null;
    if (topUp != null) topUp.cancel();
  }

  /** How long a stock lasts at the measured rate, at most {@code maxAge}. */
  Duration outageLeft(long left) {
    if (left == 0) return Duration.ZERO;
    double rate = outage == null ? policy.ratePerSecond() : outage.ratePerSecond();
    return Duration.ofNanos((long) Math.min(maxAge.toNanos(), left / rate * TimeUnit.SECONDS.toNanos(1)));
  }

  /** Drops an answer that is too old. To be called without the lock. */
  void expire(Answer old) {
    int unused;
    lock.lock();
    try {
      boolean isAhead = stock.isInUseOrSpare(old);
      boolean isInUse = stock.isInUse(old);
      unused = stock.drop(old);
      boolean wasUsed = unused < old.count;
      // The rush is over for which callers were spread: an answer lasted. What else the stripes hold is older.
      if (isInUse) unused += stock.gather();
      if (isAhead) {
        measure();
        // If no call came while it lasted, nothing is fetched until one comes.
        isDue = stock.answerCount() == 0 && (wasUsed || waiters.areThere());
        reserveIfDue();
      }
    } finally {
      lock.unlock();
    }
    tellExpired(unused);
  }

  /** Tells the observer of IDs that were dropped. To be called without the lock. */
  void tellExpired(long unused) {
    if (unused > 0) Observers.tell(() -> observer.onExpire(new ClientObserver.ExpireEvent(unused)));
  }

  /**
   * Sends for more if that is due: one reservation at a time, none during a back-off, none where an answer is spare.
   */
  private void reserveIfDue() {
    if (!isDue || !isFree()) return;
    if (outage != null && topUp == null) scheduleTopUp();
    if (stock.answerCount() > 1) return;
    int lacking = outageSize();
    measure();
    reserve(Math.max(policy.size(), lacking));
  }

  private boolean isFree() {
    return !closed && flight == null && backOff == null;
  }

  private void reserve(int count) {
    if (outage != null) outage.asked(stock.handedOut());
    Flight next = new Flight(count, policy.ratePerSecond());
    flight = next;
    clock.after(0, () -> send(next));
  }

  /** How many IDs the stock for an outage lacks, as many as are to be asked for at once. */
  private int outageSize() {
    if (outage == null || stock.answerCount() > OutagePolicy.SPARE_ANSWERS_MAX) return 0;
    return outage.size(stock.stockCount(), stock.handedOut());
  }

  /** Looks after the stock for an outage, once a second while there is stock or a call waits. */
  private void scheduleTopUp() {
    outage.note(clock.nanos(), stock.handedOut());
    topUp = clock.after(OutagePolicy.TOP_UP_NANOS, this::lookAfterStock);
  }

  private void lookAfterStock() {
    lock.lock();
    try {
      topUp = null;
      if (closed) return;
      if (stock.stockCount() == 0 && !waiters.areThere() && flight == null) {
        outage.forget();
        return;
      }
      scheduleTopUp();
      topUp();
    } finally {
      lock.unlock();
    }
  }

  private void topUp() {
    int lacking = isFree() ? outageSize() : 0;
    if (lacking == 0) return;
    measure();
    reserve(lacking);
  }

  private void measure() {
    long claims = stock.handedOut();
    long nowNanos = clock.nanos();
    policy.measured(claims - measuredClaims, nowNanos - measuredNanos);
    measuredClaims = claims;
    measuredNanos = nowNanos;
  }

  private void send(Flight sent) {
    sent.sentNanos = clock.nanos();
    CompletableFuture<List<IdRun>> answer;
    try {
      answer = Objects.requireNonNull(source.reserveAsync(sent.asked, timeout), "The source gave nothing.");
    } catch (Throwable error) {
      // Whatever it was: a reservation that is never settled would be the last.
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
    lock.lock();
    try {
      if (flight != settled) return;
      flight = null;
      if (error != null) throw SnowlaneException.from(error);
      received = accept(runs, settled.asked, settled.sentNanos);
      failuresInRow = 0;
    } catch (RuntimeException thrown) {
      failure = SnowlaneException.from(thrown);
      fail(failure);
    } finally {
      lock.unlock();
    }
    Duration duration = Duration.ofNanos(clock.nanos() - settled.sentNanos);
    Optional<ErrorReason> reason = Optional.ofNullable(failure).map(SnowlaneException::reason);
    ClientObserver.RefillEvent event =
        new ClientObserver.RefillEvent(settled.asked, received, duration, settled.ratePerSecond, reason);
    Observers.tell(() -> observer.onRefill(event));
  }

  /**
   * Takes an answer into stock.
   *
   * @throws SnowlaneException if the answer is refused, which counts as a failed reservation
   */
  private int accept(List<IdRun> runs, int asked, long sentNanos) {
    int count = RunCheck.count(runs, asked);
    long elapsedNanos = clock.nanos() - sentNanos;
    long leftNanos = maxAge.toNanos() - elapsedNanos;
    policy.answered(elapsedNanos);
    if (leftNanos <= 0) throw tooLate(elapsedNanos);
    isDue = false;
    lastFailure = null;
    refills++;
    Answer answer = new Answer(runs, policy.mark(count));
    stock.add(answer);
    answer.expireBy(clock.after(leftNanos, () -> expire(answer)));
    waiters.wake();
    if (outage != null && stock.stockCount() < policy.ratePerSecond()) topUp();
    return count;
  }

  private SnowlaneException tooLate(long elapsedNanos) {
    String elapsedMs = "" + TimeUnit.NANOSECONDS.toMillis(elapsedNanos);
    String maxAgeMs = "" + maxAge.toMillis();
    String limit = "IDs are handed out for " + maxAgeMs + " ms";
    String message = "The answer was dropped: it took " + elapsedMs + " ms, and " + limit + ".";
    Map<String, String> metadata = Map.of("elapsed_ms", elapsedMs, "max_age_ms", maxAgeMs);
    return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, message, metadata);
  }

  /**
   * Begins a back-off: a random time, so that clients that failed together do not come back together, and never less
   * than the server asks for.
   */
  private void fail(SnowlaneException failure) {
    failuresInRow++;
    DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    // Before the first answer, each call is to fail within a second.
    int failuresCounted = failure.isFirstMistake() ? Math.min(failuresInRow, 2) : failuresInRow;
    long waitNanos = Backoff.nanos(failuresCounted, failure.retryAfter(), random);
    // Never 0: the clock may do at once what is due at once, and the lock is held.
    backOff = clock.after(Math.max(waitNanos, 1), this::endBackOff);
    failures++;
    lastFailure = failure;
    if (!failure.passes()) waiters.wake();
  }

  private void endBackOff() {
    lock.lock();
    try {
      backOff = null;
      if (waiters.areThere() || stock.answerCount() > 0) reserveIfDue();
    } finally {
      lock.unlock();
    }
  }
}
