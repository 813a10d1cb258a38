package dev.snowlane.client;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The clocks of this machine. */
final class SystemClock implements ClientClock {

  static final SystemClock INSTANCE = new SystemClock();

  private final ScheduledThreadPoolExecutor timers =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "snowlane-timers");
            thread.setDaemon(true);
            return thread;
          });

  private SystemClock() {
    timers.setRemoveOnCancelPolicy(true);
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long nowMs() {
    return System.currentTimeMillis();
  }

  @Override
  public Timer after(long delayNanos, Runnable task) {
    ScheduledFuture<?> scheduled = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    return () -> scheduled.cancel(false);
  }
}
