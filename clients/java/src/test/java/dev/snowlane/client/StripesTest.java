package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class StripesTest {

  private static final int COUNT = 10_000;
  private static final Duration MAX_AGE = Duration.ofSeconds(5);
  private static final PrefetchOptions OPTIONS = PrefetchOptions.DEFAULTS.withMaxAge(MAX_AGE).withCounts(COUNT, COUNT);

  private static final PrefetchOptions PATIENT =
      PrefetchOptions.DEFAULTS.withCounts(5_000, 65_536).withTimeout(Duration.ofSeconds(60));

  private final StubSource source = new StubSource(0, 100_000);
  private final FakeClock clock = new FakeClock();
  private final PrefetchBuffer buffer = new PrefetchBuffer(source, OPTIONS, clock, ClientObserver.NONE);

  /** Fills the buffer, spreads its callers and takes 201 IDs in all. Later requests are not answered. */
  private long[] takeByManyThreads() throws InterruptedException {
    long[] ids = new long[201];
    ids[0] = buffer.nextId();
    for (int i = 0; i < 10; i++) source.script.add(count -> new CompletableFuture<>());
    buffer.spreadCallers();
    for (int i = 1; i < ids.length; i++) {
      int index = i;
      Thread thread = new Thread(() -> ids[index] = buffer.nextId());
      thread.start();
      thread.join();
    }
    assertEquals(COUNT - 201, buffer.stats().stock());
    return ids;
  }

  private long[] drain() {
    LongStream.Builder ids = LongStream.builder();
    try {
      while (true) ids.add(buffer.nextIdNow());
    } catch (SnowlaneException end) {
      return ids.build().toArray();
    }
  }

  private static void assertDistinct(long[]... ids) {
    long[] all = Arrays.stream(ids).flatMapToLong(Arrays::stream).toArray();
    assertEquals(all.length, Arrays.stream(all).distinct().count());
  }

  private void assertNextIdsRise(int count) {
    long last = buffer.nextId();
    for (int i = 0; i < count; i++) {
      long id = buffer.nextId();
      assertTrue(id > last);
      last = id;
    }
  }

  @Test
  void oneThreadGetsRisingIds() {
    assertNextIdsRise(100_000);
  }

  @Test
  void noIdLiesIdleInAStripe() throws Exception {
    long[] taken = takeByManyThreads();
    long[] rest = drain();
    assertEquals(COUNT - 201, rest.length);
    assertDistinct(taken, rest);
    assertEquals(COUNT, buffer.stats().handedOut());
  }

  @Test
  void aBlockOfManyIsTakenFromStripesToo() throws Exception {
    long[] taken = takeByManyThreads();
    assertDistinct(taken, buffer.nextIds(COUNT - 201));
    assertEquals(0, buffer.stats().stock());
  }

  @Test
  void stripesGrowTooOldWithTheirAnswer() throws Exception {
    source.script.add(count -> CompletableFuture.completedFuture(source.grant(count)));
    CompletableFuture<List<IdRun>> second = new CompletableFuture<>();
    source.script.add(count -> second);
    long[] taken = takeByManyThreads();
    long highest = Arrays.stream(taken).max().getAsLong() + 3L * COUNT;
    // To the low-water mark at least; the clock then moves before the second request is sent.
    clock.advance(MAX_AGE.dividedBy(2));
    buffer.nextIds(COUNT / 4 * 3 + 1 - 201);
    clock.advance(Duration.ofNanos(1));
    second.complete(List.of(new IdRun(highest, COUNT, 1)));
    assertEquals(2, buffer.stats().refills());
    // All of the first answer but what the stripes hold, and some of the second.
    buffer.nextIds(COUNT / 2);
    BufferStats before = buffer.stats();
    assertEquals(0, before.dropped());
    clock.advance(MAX_AGE.dividedBy(2));
    BufferStats after = buffer.stats();
    assertTrue(after.dropped() > 0, "stripes kept what was too old");
    assertEquals(before.handedOut(), after.handedOut());
    assertEquals(before.stock() - after.dropped(), after.stock());
    long[] rest = drain();
    assertEquals(after.stock(), rest.length);
    assertTrue(Arrays.stream(rest).min().getAsLong() >= highest);
    assertDistinct(rest);
  }

  @Test
  void anAnswerThatLastsEndsTheRush() throws Exception {
    takeByManyThreads();
    source.script.clear();
    clock.advance(MAX_AGE);
    assertEquals(COUNT - 201, buffer.stats().dropped());
    assertEquals(201, buffer.stats().handedOut());
    assertNextIdsRise(1_000);
  }

  @Test
  void closingDropsWhatStripesHold() throws Exception {
    takeByManyThreads();
    buffer.close();
    assertEquals(0, drain().length);
    assertEquals(ErrorReason.CLIENT_CLOSED, assertThrows(SnowlaneException.class, buffer::nextId).reason());
    assertEquals(COUNT - 201, buffer.stats().dropped());
    assertEquals(201, buffer.stats().handedOut());
  }

  /** Rounds of callers while answers expire and the buffer is closed: each ID comes to a caller, and once. */
  @Test
  void eachIdComesOnceWhileBuffersClose() throws Exception {
    for (int round = 0; round < 20; round++) {
      PrefetchBuffer closing = new PrefetchBuffer(new StubSource(round % 2, 3_000), PATIENT);
      ConcurrentLinkedQueue<long[]> taken = new ConcurrentLinkedQueue<>();
      List<Thread> callers = new ArrayList<>();
      for (int c = 0; c < 2 + round % 15; c++) callers.add(new Thread(() -> taken.add(takeUntilClosed(closing))));
      callers.forEach(Thread::start);
      for (int i = 0; i < 20; i++) {
        closing.spreadCallers();
        long before = closing.stats().handedOut();
        while (closing.stats().handedOut() < before + 50) Thread.yield();
        if (i % 4 == round % 4) closing.expireNow();
      }
      closing.close();
      for (Thread caller : callers) caller.join();
      assertEquals(callers.size(), taken.size(), "a caller failed otherwise");
      long[] all = taken.stream().flatMapToLong(Arrays::stream).toArray();
      assertEquals(closing.stats().handedOut(), all.length);
      assertEquals(0, closing.stats().stock());
      assertDistinct(all);
      assertFalse(callers.stream().anyMatch(Thread::isAlive));
    }
  }

  private static long[] takeUntilClosed(PrefetchBuffer buffer) {
    LongStream.Builder ids = LongStream.builder();
    try {
      while (true) ids.add(buffer.nextId());
    } catch (SnowlaneException error) {
      assertEquals(ErrorReason.CLIENT_CLOSED, error.reason());
      return ids.build().toArray();
    }
  }
}
