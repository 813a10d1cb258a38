package dev.snowlane.client;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The clocks of this machine. */
final class SystemClock implements ClientClock {

  static final SystemClock INSTANCE = new SystemClock();

  /**
   * The thread of the timers ends after this long without timers, so that it does not keep a program's class loader
   * alive.
   */
  private static final long IDLE_S = 10;

  private static final Path UPTIME = Path.of("/proc/uptime");

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
    timers.setKeepAliveTime(IDLE_S, TimeUnit.SECONDS);
    timers.allowCoreThreadTimeOut(true);
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long nowMs() {
    return System.currentTimeMillis();
  }

  /** Linux reports it, in seconds with two digits after the point. */
  @Override
  public OptionalLong uptimeMs() {
    try {
      String seconds = Files.readString(UPTIME).split(" ", 2)[0];
      return OptionalLong.of(new BigDecimal(seconds).movePointRight(3).longValue());
    } catch (IOException | NumberFormatException unknown) {
      return OptionalLong.empty();
    }
  }

  @Override
  public Timer after(long delayNanos, Runnable task) {
    ScheduledFuture<?> scheduled = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    return () -> scheduled.cancel(false);
  }
}
