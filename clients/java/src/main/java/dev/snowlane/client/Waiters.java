package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/**
 * The calls that wait on a dry buffer. A waiting call owns nothing: a refill wakes it, and it claims like any other.
 *
 * Guarded by the buffer's lock.
 */
final class Waiters {

  private final ReentrantLock lock;
  private final Condition changed;
  private final ClientClock clock;
  private final ClientObserver observer;
  private int waiting;
  private long waits;

  Waiters(ReentrantLock lock, ClientClock clock, ClientObserver observer) {
    this.lock = lock;
    this.changed = lock.newCondition();
    this.clock = clock;
    this.observer = observer;
  }

  /** Whether a call waits. */
  boolean areThere() {
    return waiting > 0;
  }

  /** How many calls have waited. */
  long waits() {
    return waits;
  }

  /** Lets all waiting calls look again. The lock is held. */
  void wake() {
    changed.signalAll();
  }

  /**
   * Claims as soon as there is something to claim. To be called without the lock.
   *
   * @param claim claims under the lock and returns how many IDs it has, 0 if there are none
   */
  int await(Refiller refiller, IntSupplier claim, long deadlineNanos) {
    long startedNanos = clock.nanos();
    ErrorReason reason = null;
    try {
      return awaitRefill(refiller, claim, deadlineNanos);
    } catch (SnowlaneException error) {
      reason = error.reason();
      throw error;
    } finally {
      Duration duration = Duration.ofNanos(clock.nanos() - startedNanos);
      ClientObserver.WaitEvent event = new ClientObserver.WaitEvent(duration, Optional.ofNullable(reason));
      Observers.tell(() -> observer.onWait(event));
    }
  }

  private int awaitRefill(Refiller refiller, IntSupplier claim, long deadlineNanos) {
    ClientClock.Timer alarm = clock.after(Math.max(deadlineNanos - clock.nanos(), 1), this::wakeFromTimer);
    lock.lock();
    waiting++;
    waits++;
    try {
      long failuresBefore = refiller.failures();
      while (true) {
        int claimed = claim.getAsInt();
        if (claimed > 0) return claimed;
        refiller.refuseIfClosed();
        refiller.ask();
        // A source may answer at once.
        claimed = claim.getAsInt();
        if (claimed > 0) return claimed;
        SnowlaneException failure = refiller.lastFailure();
        boolean hasFailed = failure != null && refiller.failures() != failuresBefore;
        if (hasFailed && !failure.passes()) throw failure.rethrown();
        if (clock.nanos() >= deadlineNanos) throw waitedTooLong(failure);
        changed.await();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new SnowlaneException(ErrorReason.CANCELLED, "The thread was interrupted while it waited for an ID.");
    } finally {
      waiting--;
      lock.unlock();
      alarm.cancel();
    }
  }

  private static SnowlaneException waitedTooLong(SnowlaneException lastFailure) {
    if (lastFailure != null) return lastFailure.rethrown();
    return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, "No ID came before the deadline of the call.");
  }

  private void wakeFromTimer() {
    lock.lock();
    try {
      wake();
    } finally {
      lock.unlock();
    }
  }
}
