package dev.snowlane.client;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * A point in time that knows how long ago it was. Time in which the machine was suspended counts; a step of the wall
 * clock does not. Safe for any number of threads.
 */
final class Moment {

  /** If the wall clock gained more than this on the monotonic clock, the machine was suspended or the clock was set. */
  private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ClientClock clock;
  private final long nanos;
  private final long wallMs;
  private final OptionalLong uptimeMs;

  /** Now. */
  Moment(ClientClock clock) {
    this.clock = clock;
    nanos = clock.nanos();
    wallMs = clock.nowMs();
    uptimeMs = clock.uptimeMs();
  }

  /** When it was, by the monotonic clock. */
  long nanos() {
    return nanos;
  }

  long elapsedNanos() {
    long running = clock.nanos() - nanos;
    long wall = TimeUnit.MILLISECONDS.toNanos(clock.nowMs() - wallMs);
    // Reading the uptime costs more than reading the clocks, so it is read only where it decides.
    if (wall - running <= STEP_NANOS || uptimeMs.isEmpty()) return Math.max(running, wall);
    long up = TimeUnit.MILLISECONDS.toNanos(clock.uptimeMs().orElse(0) - uptimeMs.getAsLong());
    return Math.max(running, up);
  }
}
