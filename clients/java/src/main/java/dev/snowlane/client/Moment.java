package dev.snowlane.client;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * A moment, and how long ago it was: the time of a suspended machine counts, a step of the clock does not. Any thread
 * may ask.
 */
final class Moment {

  /** Where the wall clock ran ahead by more, the machine was suspended, or the clock was set. */
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

  /** When it was, by the clock that never falls. */
  long nanos() {
    return nanos;
  }

  long elapsedNanos() {
    long running = clock.nanos() - nanos;
    long wall = TimeUnit.MILLISECONDS.toNanos(clock.nowMs() - wallMs);
    // The uptime costs more than the clocks, so that it is read only where it decides.
    if (wall - running <= STEP_NANOS || uptimeMs.isEmpty()) return Math.max(running, wall);
    long up = TimeUnit.MILLISECONDS.toNanos(clock.uptimeMs().orElse(0) - uptimeMs.getAsLong());
    return Math.max(running, up);
  }
}
