package dev.snowlane.client.testing;

import dev.snowlane.client.ClientClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.OptionalLong;
import java.util.PriorityQueue;

/** A clock for tests, whose time moves only by {@link #advance}. */
public final class FakeClock implements ClientClock {

  private record Due(long nanos, long number, Runnable task) {}

  private final PriorityQueue<Due> timers =
      new PriorityQueue<>(Comparator.comparingLong(Due::nanos).thenComparingLong(Due::number));
  private final long startMs;
  private long nanos;
  private long timersMade;

  // How far the other clocks are ahead.
  private long suspendedMs;
  private long steppedMs;

  /** A clock that starts at the Unix epoch. */
  public FakeClock() {
    this(Instant.EPOCH);
  }

  public FakeClock(Instant start) {
    startMs = start.toEpochMilli();
  }

  @Override
  public synchronized long nanos() {
    return nanos;
  }

  @Override
  public synchronized long nowMs() {
    return startMs + Duration.ofNanos(nanos).toMillis() + suspendedMs + steppedMs;
  }

  @Override
  public synchronized OptionalLong uptimeMs() {
    return OptionalLong.of(Duration.ofNanos(nanos).toMillis() + suspendedMs);
  }

  /** Lets time pass while the machine is suspended: no timer runs, and {@link #nanos} does not move. */
  public synchronized void suspend(Duration duration) {
    suspendedMs += duration.toMillis();
  }

  /** Sets the wall clock forward, or back. */
  public synchronized void stepWall(Duration duration) {
    steppedMs += duration.toMillis();
  }

  /** A task that is due at once runs at once, on the thread that asks. */
  @Override
  public Timer after(long delayNanos, Runnable task) {
    if (delayNanos <= 0) {
      task.run();
      return () -> {};
    }
    synchronized (this) {
      Due due = new Due(nanos + delayNanos, timersMade++, task);
      timers.add(due);
      return () -> cancel(due);
    }
  }

  /** Lets time pass, and runs the tasks that fall due, in order. */
  public void advance(Duration duration) {
    long untilNanos = nanos() + duration.toNanos();
    for (Due due = takeDue(untilNanos); due != null; due = takeDue(untilNanos)) due.task().run();
  }

  private synchronized void cancel(Due due) {
    timers.remove(due);
  }

  /**
   * Moves time to the first task that is due, and takes it out; if there is none, moves time to the end and returns
   * null.
   */
  private synchronized Due takeDue(long untilNanos) {
    Due first = timers.peek();
    boolean isDue = first != null && first.nanos() <= untilNanos;
    nanos = Math.max(nanos, isDue ? first.nanos() : untilNanos);
    return isDue ? timers.poll() : null;
  }
}
