package dev.snowlane.client;

import dev.snowlane.client.ClientObserver.State;
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
import org.jspecify.annotations.Nullable;

/**
 * Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed. It owns the
 * reservation: a caller's interrupt or timeout does not end it.
 *
 * Guarded by the buffer's lock, which callers hold unless a method says otherwise. The age of an answer counts from
 * before its first attempt: docs/adr/0094 says why.
 */
final class Refiller {

  /** One reservation on its way. The answer to any other than the current one is dropped whole. */
  private static final class Flight {
    final Purpose purpose;
    final int asked;

    /** How many IDs a piece of the reserve has. */
    final int pieceSize;

    final double ratePerSecond;

    /** The time before the first attempt to get it: none of its IDs can be older. */
    Moment sent;

    @Nullable CompletableFuture<List<IdRun>> answer;

    Flight(Purpose purpose, int asked, int pieceSize, double ratePerSecond) {
      this.purpose = purpose;
      this.asked = asked;
      this.pieceSize = pieceSize;
      this.ratePerSecond = ratePerSecond;
    }
  }

  /** The purpose of a reservation. */
  private enum Purpose {
    WORKING_STOCK,
    RESERVE
  }

  private final RunSource source;
  private final long maxAgeNanos;
  private final Duration timeout;
  private final ClientClock clock;
  private final ClientObserver observer;
  private final States states;

  /** Null: no reserve is kept for an outage. */
  private final @Nullable OutagePolicy outage;

  private final ReentrantLock lock;
  private final Stock stock;
  private final Waiters waiters;
  private @Nullable Flight flight;
  private ClientClock.@Nullable Timer backOff;

  /** Set while the reserve for an outage is checked every second. */
  private ClientClock.@Nullable Timer topUp;

  private boolean closed;
  private @Nullable SnowlaneException lastFailure;
  private int failuresInRow;
  private final FailingSpell spell = new FailingSpell();
  private long failures;
  private long refills;

  /**
   * @param timeout how long a reservation may take
   */
  Refiller(
      RunSource source,
      PrefetchOptions options,
      Duration timeout,
      ClientClock clock,
      ClientObserver observer,
      States states,
      ReentrantLock lock,
      Stock stock,
      Waiters waiters) {
    this.source = source;
    this.maxAgeNanos = options.maxAge().toNanos();
    this.timeout = timeout;
    this.clock = clock;
    this.observer = observer;
    this.states = states;
    this.outage = options.outage().map(time -> new OutagePolicy(options, time)).orElse(null);
    this.lock = lock;
    this.stock = stock;
    this.waiters = waiters;
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
  @Nullable SnowlaneException lastFailure() {
    return lastFailure;
  }

  /**
   * @throws SnowlaneException CLIENT_CLOSED
   */
  void refuseIfClosed() {
    if (closed) throw closedError();
  }

  static SnowlaneException closedError() {
    return new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The buffer is closed.");
  }

  /** Asks for the next answer, unless one is on its way or spare, or the last failure is too recent. */
  void ask() {
    if (!isFree()) return;
    if (outage != null && topUp == null) scheduleTopUp();
    if (!stock.hasSpare()) reserve(Purpose.WORKING_STOCK);
  }

  /** Forgets the reservation on its way and ends a back-off. If the reservation is answered, its answer is dropped. */
  void close() {
    closed = true;
    Flight abandoned = flight;
    // It is forgotten first, because cancelling it calls back.
    flight = null;
    if (abandoned != null && abandoned.answer != null) abandoned.answer.cancel(true);
    if (backOff != null) backOff.cancel();
    backOff = null;
    if (topUp != null) topUp.cancel();
  }

  /** How long a stock lasts at the measured rate, at most {@code maxAge}. */
  Duration outageLeft(long left) {
    if (left == 0) return Duration.ZERO;
    double rate = outage == null ? stock.policy.ratePerSecond() : outage.ratePerSecond();
    if (rate == 0) return Duration.ofNanos(maxAgeNanos);
    return Duration.ofNanos((long) (stock.secondsLeft(rate, maxAgeNanos) * TimeUnit.SECONDS.toNanos(1)));
  }

  /** Drops an answer that is too old. To be called without the lock. */
  void expire(Answer old) {
    int unused;
    lock.lock();
    try {
      unused = dropOld(old);
    } finally {
      lock.unlock();
    }
    tellExpired(unused);
  }

  /** Drops an answer that is too old; returns how many IDs that were. Doing it again does nothing. */
  int dropOld(Answer old) {
    boolean isInUse = stock.isInUse(old);
    boolean isThere = stock.isThere(old);
    int unused = stock.drop(old);
    // An answer lasted for its full age, so the rush for which callers were spread is over. Everything else in the
    // stripes is older.
    if (isInUse) unused += stock.gather();
    // If none of its IDs was claimed, no caller needs the next answer: the next caller wakes the buffer.
    if (isInUse && !stock.hasSpare()) ask();
    else if (isThere && stock.stockCount() == 0) stock.policy.forget();
    else if (isThere) stock.policy.noteHandedOut(stock.handedOut());
    return unused;
  }

  /** Informs the observer about IDs that were dropped. To be called without the lock. */
  void tellExpired(long unused) {
    if (unused > 0) Observers.tell(() -> observer.onExpire(new ClientObserver.ExpireEvent(unused)));
  }

  private boolean isFree() {
    return !closed && flight == null && backOff == null;
  }

  /** Asks for IDs, unless nothing is due. */
  private void reserve(Purpose purpose) {
    RefillPolicy policy = stock.policy;
    int pieceSize = policy.secondCount();
    boolean isForReserve = purpose == Purpose.RESERVE;
    int missing = isForReserve ? outage.reserveCount(stock.reserveState(outage.youngNanos()), pieceSize) : 0;
    if (isForReserve && missing == 0) return;
    policy.noteHandedOut(stock.handedOut());
    Flight next =
        new Flight(purpose, isForReserve ? missing : policy.reserveCount(), pieceSize, policy.ratePerSecond());
    flight = next;
    clock.after(0, () -> send(next));
  }

  /** Checks the reserve for an outage once a second, while there is stock or a call waits. */
  private void scheduleTopUp() {
    outage.noteHandedOut(stock.handedOut());
    topUp = clock.after(OutagePolicy.TOP_UP_NANOS, this::lookAfterReserve);
  }

  private void lookAfterReserve() {
    lock.lock();
    try {
      topUp = null;
      if (closed) return;
      if (stock.stockCount() == 0 && !waiters.areThere() && flight == null) {
        outage.forget();
        return;
      }
      scheduleTopUp();
      if (isFree()) reserve(Purpose.RESERVE);
    } finally {
      lock.unlock();
    }
  }

  private void send(Flight sent) {
    sent.sent = new Moment(clock);
    CompletableFuture<List<IdRun>> answer;
    try {
      answer = Objects.requireNonNull(source.reserveAsync(sent.asked, timeout), "The source gave no IDs.");
    } catch (Throwable error) {
      // Everything is caught, because a reservation that is never settled would be the last one.
      answer = CompletableFuture.failedFuture(error);
    }
    lock.lock();
    try {
      sent.answer = answer;
      if (flight != sent) answer.cancel(true);
    } finally {
      lock.unlock();
    }
    // The source should observe the time limit itself; this is for one that never answers.
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

  private void settle(Flight settled, @Nullable List<IdRun> runs, @Nullable Throwable error) {
    int received = 0;
    SnowlaneException failure = null;
    Runnable telling = () -> {};
    lock.lock();
    try {
      if (flight != settled) return;
      flight = null;
      if (error != null) throw SnowlaneException.from(error);
      received = accept(runs, settled);
      telling = spell.worked(clock.nanos()).<Runnable>map(lasted -> () -> tellWorking(lasted)).orElse(telling);
    } catch (RuntimeException thrown) {
      SnowlaneException cause = SnowlaneException.from(thrown);
      failure = cause;
      fail(cause);
      if (spell.failed(settled.sent.nanos(), clock.nanos(), failuresInRow)) telling = () -> tellFailing(cause);
    } finally {
      lock.unlock();
    }
    Duration duration = Duration.ofNanos(clock.nanos() - settled.sent.nanos());
    Optional<ErrorReason> reason = Optional.ofNullable(failure).map(SnowlaneException::reason);
    ClientObserver.RefillEvent event =
        new ClientObserver.RefillEvent(settled.asked, received, duration, settled.ratePerSecond, reason);
    Observers.tell(() -> observer.onRefill(event));
    telling.run();
  }

  private void tellFailing(SnowlaneException cause) {
    states.tell(State.FAILING, Optional.of(cause.reason()), cause.endpoint(), Duration.ZERO);
  }

  private void tellWorking(Duration lasted) {
    states.tell(State.WORKING, Optional.empty(), Optional.empty(), lasted);
  }

  /**
   * Takes an answer into stock.
   *
   * @throws SnowlaneException if the answer is refused, which counts as a failed reservation
   */
  private int accept(List<IdRun> runs, Flight settled) {
    int count = RunCheck.count(runs, settled.asked);
    Moment sent = settled.sent;
    long leftNanos = maxAgeNanos - sent.elapsedNanos();
    if (leftNanos <= 0) throw tooLate(sent.elapsedNanos());
    stock.policy.noteRoundTrip(clock.nanos() - sent.nanos());
    failuresInRow = 0;
    lastFailure = null;
    refills++;
    if (settled.purpose == Purpose.WORKING_STOCK) stock.add(answerOf(runs, sent, leftNanos));
    else {
      // It is cut before any caller can claim from it, so no ID is ever put back.
      List<List<IdRun>> pieces = Answer.cut(runs, settled.pieceSize);
      stock.addReserve(pieces.stream().map(piece -> answerOf(piece, sent, leftNanos)).toList());
    }
    waiters.wake();
    // If the working stock ran low while an answer for the reserve was on its way, ask for the working stock now.
    if (stock.isLow()) ask();
    return count;
  }

  private Answer answerOf(List<IdRun> runs, Moment sent, long leftNanos) {
    Answer answer = new Answer(runs, sent, maxAgeNanos);
    answer.expireBy(clock.after(leftNanos, () -> expire(answer)));
    return answer;
  }

  private SnowlaneException tooLate(long elapsedNanos) {
    String elapsedMs = "" + TimeUnit.NANOSECONDS.toMillis(elapsedNanos);
    String maxAgeMs = "" + TimeUnit.NANOSECONDS.toMillis(maxAgeNanos);
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
    long waitNanos = Backoff.refillNanos(failuresInRow, failure, random);
    // The delay is never 0: the clock may run at once a task that is due at once, and the lock is held.
    backOff = clock.after(Math.max(waitNanos, 1), this::endBackOff);
    failures++;
    lastFailure = failure;
    if (!failure.passes()) waiters.wake();
  }

  private void endBackOff() {
    lock.lock();
    try {
      backOff = null;
      if (waiters.areThere() || stock.isLow()) ask();
    } finally {
      lock.unlock();
    }
  }
}
