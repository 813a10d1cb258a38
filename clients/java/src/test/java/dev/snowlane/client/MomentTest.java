package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MomentTest {

  private static final Duration HOUR = Duration.ofHours(1);

  private final FakeClock clock = new FakeClock();
  private final StubSource source = new StubSource(0, 1 << 20);

  private PrefetchBuffer buffer(int countMin) {
    PrefetchOptions options = PrefetchOptions.DEFAULTS.withCounts(countMin, 65_536);
    return new PrefetchBuffer(source, options, clock, ClientObserver.NONE);
  }

  /** Above every ID that was granted by now. */
  private long granted() {
    return source.grant(1).get(0).firstId();
  }

  @Test
  void timeCountsAndASuspendBesideIt() {
    Moment moment = new Moment(clock);
    clock.advance(Duration.ofMillis(300));
    assertEquals(Duration.ofMillis(300).toNanos(), moment.elapsedNanos());
    clock.suspend(HOUR);
    assertEquals(HOUR.plusMillis(300).toNanos(), moment.elapsedNanos());
  }

  @Test
  void aStepOfTheWallClockDoesNotCountNeitherForwardNorBack() {
    Moment moment = new Moment(clock);
    clock.advance(Duration.ofMillis(300));
    clock.stepWall(HOUR);
    assertEquals(Duration.ofMillis(300).toNanos(), moment.elapsedNanos());
    clock.stepWall(HOUR.multipliedBy(-2));
    assertEquals(Duration.ofMillis(300).toNanos(), moment.elapsedNanos());
  }

  @Test
  void whereTheUptimeIsUnknownAStepForwardCountsAsTime() {
    ClientClock withoutUptime =
        new ClientClock() {
          @Override
          public long nanos() {
            return clock.nanos();
          }

          @Override
          public long nowMs() {
            return clock.nowMs();
          }

          @Override
          public Timer after(long delayNanos, Runnable task) {
            return clock.after(delayNanos, task);
          }
        };
    Moment moment = new Moment(withoutUptime);
    clock.stepWall(HOUR);
    assertEquals(HOUR.toNanos(), moment.elapsedNanos());
  }

  @Test
  void thisMachineTellsItsUptimeWhereItRunsLinux() {
    boolean isLinux = System.getProperty("os.name").equals("Linux");
    assertEquals(isLinux, ClientClock.system().uptimeMs().isPresent());
    assertTrue(new Moment(ClientClock.system()).elapsedNanos() >= 0);
  }

  @Test
  void aSlowBufferHandsOutNoIdFromBeforeASuspendThatWasLongerThanMaxAge() {
    try (PrefetchBuffer buffer = buffer(32)) {
      buffer.nextId();
      clock.suspend(Duration.ofSeconds(4));
      buffer.nextIdNow();
      assertEquals(1, source.requests.get());
      clock.suspend(Duration.ofSeconds(1));
      long granted = granted();
      assertTrue(buffer.nextIdNow() > granted);
      assertEquals(3, buffer.stats().handedOut());
      assertEquals(30, buffer.stats().dropped());
      clock.suspend(HOUR);
      long grantedLater = granted();
      long[] block = buffer.nextIds(2);
      assertTrue(block[0] > grantedLater && block[1] > grantedLater);
    }
  }

  @Test
  void aFastBufferHandsOutAtMost63IdsFromBeforeASuspend() {
    try (PrefetchBuffer buffer = buffer(8)) {
      for (int step = 0; step < 500; step++) {
        for (int i = 0; i < 200; i++) buffer.nextId();
        clock.advance(Duration.ofMillis(10));
      }
      long granted = granted();
      assertTrue(buffer.stats().stock() > 1_000);
      clock.suspend(HOUR);
      int old = 0;
      for (int i = 0; i < 1_000; i++) if (buffer.nextId() < granted) old++;
      assertTrue(old <= 63, old + " IDs were too old");
    }
  }

  @Test
  void stripesHandOutAtMost63IdsFromBeforeASuspend() {
    try (PrefetchBuffer buffer = buffer(8)) {
      for (int step = 0; step < 500; step++) {
        for (int i = 0; i < 200; i++) buffer.nextId();
        clock.advance(Duration.ofMillis(10));
      }
      buffer.spreadCallers();
      buffer.nextId();
      long granted = granted();
      clock.suspend(HOUR);
      int old = 0;
      for (int i = 0; i < 1_000; i++) if (buffer.nextId() < granted) old++;
      assertTrue(old <= 63, old + " IDs were too old");
      BufferStats stats = buffer.stats();
      assertEquals(stats.reserved(), stats.handedOut() + stats.dropped() + stats.stock());
    }
  }

  @Test
  void aStepOfTheWallClockDropsNoStock() {
    try (PrefetchBuffer buffer = buffer(32)) {
      buffer.nextId();
      clock.stepWall(HOUR);
      buffer.nextIdNow();
      clock.stepWall(HOUR.multipliedBy(-2));
      buffer.nextIdNow();
      BufferStats stats = buffer.stats();
      assertArrayEquals(new long[] {3, 0}, new long[] {stats.handedOut(), stats.dropped()});
    }
  }
}
