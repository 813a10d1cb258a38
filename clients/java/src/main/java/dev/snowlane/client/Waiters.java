package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

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

  /** Calls that wait without a thread. */
  private final List<Pending> pending = new ArrayList<>();

  private boolean isLooking;

  /** Whether they must look once more. */
  private boolean mustLook;

  /** Calls that wait with a thread. */
  private int waiting;

  private long waits;

  /** Claims into an array from an index on, under the lock; returns how many IDs that were. */
  interface Claim {
    int into(long[] ids, int from);
  }

  /** A call that waits without a thread. */
  private record Pending(
      Refiller refiller, Claim claim, Taken taken, long startedNanos, long deadlineNanos, long failuresBefore) {}

  /** The IDs that such a call has so far, and its future. */
  private static final class Taken {
    final long[] ids;
    final CompletableFuture<long[]> answer = new CompletableFuture<>();
    int filled;
    ClientClock.Timer alarm = () -> {};

    Taken(long[] ids, int filled) {
      this.ids = ids;
      this.filled = filled;
    }
  }

  Waiters(ReentrantLock lock, ClientClock clock, ClientObserver observer) {
    this.lock = lock;
    this.changed = lock.newCondition();
    this.clock = clock;
    this.observer = observer;
  }

  /** Whether a call waits. */
  boolean areThere() {
    return waiting > 0 || !pending.isEmpty();
  }

  /** How many calls have waited. */
  long waits() {
    return waits;
  }

  /** Lets all waiting calls look again. The lock is held. */
  void wake() {
    changed.signalAll();
    lookAgain();
  }

  /**
   * Lets the calls that wait without a thread go on. A request of one of them may be answered at once, which calls this
   * method again. They then look once more, one after the other.
   */
  private void lookAgain() {
    mustLook = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (mustLook) {
        mustLook = false;
        List.copyOf(pending).forEach(this::goOn);
      }
    } finally {
      isLooking = false;
    }
  }

  /**
   * Claims what is missing in {@code ids} as soon as there is something to claim. To be called without the lock.
   *
   * @return fails as {@link #await} does; once it is cancelled, nothing is claimed any more
   */
  CompletableFuture<long[]> awaitAsync(Refiller refiller, long[] ids, int filled, Claim claim, long deadlineNanos) {
    Taken taken = new Taken(ids, filled);
    lock.lock();
    try {
      long nowNanos = clock.nanos();
      Pending call = new Pending(refiller, claim, taken, nowNanos, deadlineNanos, refiller.failures());
      claimAll(call);
      if (taken.filled == ids.length) return CompletableFuture.completedFuture(ids);
      waits++;
      pending.add(call);
      lookAgain();
      if (!pending.contains(call)) return taken.answer;
      taken.alarm = clock.after(Math.max(deadlineNanos - nowNanos, 1), this::wakeFromTimer);
      taken.answer.whenComplete((done, error) -> leave(call));
      return taken.answer;
    } finally {
      lock.unlock();
    }
  }

  /** A future that also cancels another one when it is cancelled. */
  static <T> CompletableFuture<T> cancelledTogether(CompletableFuture<T> outer, CompletableFuture<?> inner) {
    outer.whenComplete(
        (value, error) -> {
          if (outer.isCancelled()) inner.cancel(false);
        });
    return outer;
  }

  private static void claimAll(Pending call) {
    Taken taken = call.taken;
    int claimed = 1;
    while (claimed > 0 && taken.filled < taken.ids.length) {
      claimed = call.claim.into(taken.ids, taken.filled);
      taken.filled += claimed;
    }
  }

  /** Lets a call that waits without a thread claim, ask and end, as far as it can. The lock is held. */
  private void goOn(Pending call) {
    Taken taken = call.taken;
    if (taken.answer.isDone()) {
      pending.remove(call);
      return;
    }
    claimAll(call);
    Optional<SnowlaneException> error = Optional.empty();
    if (taken.filled < taken.ids.length) {
      error = endOf(call.refiller, call.failuresBefore, call.deadlineNanos);
      if (error.isEmpty()) call.refiller.ask();
      // A source may answer immediately.
      claimAll(call);
    }
    if (taken.filled < taken.ids.length && error.isEmpty()) {
      error = endOf(call.refiller, call.failuresBefore, call.deadlineNanos);
      if (error.isEmpty()) return;
    }
    if (!pending.remove(call)) return;
    finish(call, taken.filled == taken.ids.length ? Optional.empty() : error);
  }

  private void finish(Pending call, Optional<SnowlaneException> error) {
    call.taken.alarm.cancel();
    Duration duration = Duration.ofNanos(clock.nanos() - call.startedNanos);
    ClientObserver.WaitEvent event = new ClientObserver.WaitEvent(duration, error.map(SnowlaneException::reason));
    // The future is not completed here, because the lock is held and its dependents are the caller's code.
    call.taken.answer.completeAsync(
        () -> {
          Observers.tell(() -> observer.onWait(event));
          if (error.isPresent()) throw error.get();
          return call.taken.ids;
        });
  }

  private void leave(Pending call) {
    lock.lock();
    try {
      if (pending.remove(call)) call.taken.alarm.cancel();
    } finally {
      lock.unlock();
    }
  }

  /** Why a call that has found nothing must end now; empty: it may go on waiting. */
  private Optional<SnowlaneException> endOf(Refiller refiller, long failuresBefore, long deadlineNanos) {
    if (refiller.isClosed()) return Optional.of(Refiller.closedError());
    SnowlaneException failure = refiller.lastFailure();
    boolean hasFailed = failure != null && refiller.failures() != failuresBefore;
    if (hasFailed && !failure.passes()) return Optional.of(failure.rethrown());
    if (clock.nanos() >= deadlineNanos) return Optional.of(waitedTooLong(failure));
    return Optional.empty();
  }

  /**
   * Claims as soon as there is something to claim. To be called without the lock.
   *
   * @param claim claims under the lock and returns how many IDs it has, 0 if there are none
   */
  int await(Refiller refiller, IntSupplier claim, long deadlineNanos) {
    long startedNanos = clock.nanos();
    @Nullable ErrorReason reason = null;
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
        // A source may answer immediately.
        claimed = claim.getAsInt();
        if (claimed > 0) return claimed;
        Optional<SnowlaneException> error = endOf(refiller, failuresBefore, deadlineNanos);
        if (error.isPresent()) throw error.get();
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

  private static SnowlaneException waitedTooLong(@Nullable SnowlaneException lastFailure) {
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
