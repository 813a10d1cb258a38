package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class PrefetchBufferTest {

  private static final PrefetchOptions PATIENT =
      PrefetchOptions.DEFAULTS
          .withCounts(32, 65_536)
          .withTimeout(Duration.ofSeconds(60))
          .withMaxAge(Duration.ofSeconds(60));

  private final FakeClock clock = new FakeClock();

  private PrefetchBuffer timed(StubSource source, PrefetchOptions options) {
    return new PrefetchBuffer(source, options, clock, ClientObserver.NONE);
  }

  @Test
  void handsOutARunInOrderAndAsksForMoreOnceAtTheLowWaterMark() throws Exception {
    StubSource source = new StubSource(0, 1000);
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 24; i++) ids.add(buffer.nextId());
      assertEquals(1, source.requests.get());
      for (int i = 0; i < 8; i++) ids.add(buffer.nextId());
      until(() -> buffer.stats().refills() == 2);
      assertEquals(2, source.requests.get());
      for (int i = 1; i < ids.size(); i++) assertEquals(ids.get(0) + i * (1 + 32 % 3), ids.get(i));
    }
  }

  @Test
  void aBlockGoesOnInTheNextRun() {
    StubSource source = new StubSource(0, 10);
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      long[] ids = buffer.nextIds(1000);
      assertEquals(1000, Arrays.stream(ids).distinct().count());
      assertArrayEquals(ids, Arrays.stream(ids).sorted().toArray());
      for (int count : new int[] {-1, 0, PrefetchBuffer.COUNT_MAX + 1}) {
        SnowlaneException error = assertThrows(SnowlaneException.class, () -> buffer.nextIds(count));
        assertEquals(ErrorReason.COUNT_OUT_OF_RANGE, error.reason());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 1000})
  void manyCallersWithRunsExpiredAllTheTimeAndInterruptedCallersGetNoIdTwice(int callers) throws Exception {
    StubSource source = new StubSource(1, 3000);
    PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT);
    int perCaller = 1_600_000 / callers;
    AtomicInteger interrupted = new AtomicInteger();
    ConcurrentLinkedQueue<long[]> taken = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(1);
    for (int c = 0; c < callers; c++) {
      threads.add(
          new Thread(
              () -> {
                awaitStubbornly(start);
                taken.add(take(buffer, perCaller, interrupted));
              }));
    }
    threads.forEach(Thread::start);
    start.countDown();
    Thread disturber =
        new Thread(
            () -> {
              for (int i = 0; threads.stream().anyMatch(Thread::isAlive); i++) {
                buffer.expireNow();
                // As contention does, which no test can bring about at will.
                if (i % 2 == 0) buffer.spreadCallers();
                for (int c = 0; c < 4; c++) threads.get((4 * i + c) % callers).interrupt();
                awaitProgress(buffer, threads);
              }
            });
    disturber.start();
    for (Thread thread : threads) thread.join();
    disturber.join();
    long[] all = taken.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    assertEquals((long) perCaller * callers, all.length);
    assertEquals(all.length, Arrays.stream(all).distinct().count());
    assertTrue(interrupted.get() > 0, "no caller was interrupted while it waited");
    BufferStats stats = buffer.stats();
    assertTrue(stats.dropped() > 0, "no run expired under the callers");
    assertTrue(stats.handedOut() >= all.length);
    assertEquals(stats.reserved(), stats.handedOut() + stats.dropped() + stats.stock());
    buffer.close();
  }

  /** Waits until callers have got some thousands of IDs, or have ended. */
  private static void awaitProgress(PrefetchBuffer buffer, List<Thread> callers) {
    long before = buffer.stats().handedOut();
    while (buffer.stats().handedOut() < before + 2_000 && callers.stream().anyMatch(Thread::isAlive)) Thread.yield();
  }

  private static long[] take(PrefetchBuffer buffer, int count, AtomicInteger interrupted) {
    long[] ids = new long[count];
    for (int i = 0; i < count; ) {
      try {
        if (i % 1000 == 0 && count - i >= 7) {
          long[] block = buffer.nextIds(7);
          System.arraycopy(block, 0, ids, i, 7);
          i += 7;
        } else {
          ids[i] = buffer.nextId();
          i++;
        }
      } catch (SnowlaneException error) {
        assertEquals(ErrorReason.CANCELLED, error.reason());
        assertTrue(Thread.interrupted());
        interrupted.incrementAndGet();
      }
    }
    return ids;
  }

  @Test
  void anIdOlderThanMaxAgeIsNotHandedOut() {
    StubSource source = new StubSource(0, 1000);
    Duration maxAge = Duration.ofMillis(50);
    try (PrefetchBuffer buffer = timed(source, PATIENT.withMaxAge(maxAge))) {
      long first = buffer.nextId();
      clock.advance(maxAge);
      assertEquals(31, buffer.stats().dropped());
      assertTrue(buffer.nextId() > first + 31);
    }
  }

  @Test
  void stockIsRenewedOnlyForCallersThatWereThereSinceTheLastExpiry() {
    StubSource source = new StubSource(0, 1000);
    Duration maxAge = Duration.ofMillis(500);
    try (PrefetchBuffer buffer = timed(source, PATIENT.withMaxAge(maxAge))) {
      buffer.nextId();
      clock.advance(maxAge);
      assertEquals(2, buffer.stats().refills());
      assertEquals(32, buffer.stats().stock());
      clock.advance(maxAge);
      clock.advance(Duration.ofMinutes(10));
      assertEquals(2, source.requests.get());
      assertEquals(0, buffer.stats().stock());
    }
  }

  @Test
  void anAnswerThatComesAfterMaxAgeIsDroppedWhole() {
    StubSource source = new StubSource(0, 1000);
    CompletableFuture<List<IdRun>> late = new CompletableFuture<>();
    source.script.add(count -> late);
    Duration maxAge = Duration.ofMillis(100);
    try (PrefetchBuffer buffer = timed(source, PATIENT.withMaxAge(maxAge))) {
      assertThrows(SnowlaneException.class, buffer::nextIdNow);
      clock.advance(maxAge);
      List<IdRun> runs = source.grant(32);
      late.complete(runs);
      assertEquals(1, buffer.stats().refillFailures());
      clock.advance(Duration.ofSeconds(2));
      assertTrue(buffer.nextIdNow() > runs.get(0).lastId());
    }
  }

  @Test
  void anAnswerToARequestThatWasGivenUpIsDroppedWhole() {
    StubSource source = new StubSource(0, 1000);
    List<IdRun> late = source.grant(32);
    CompletableFuture<List<IdRun>> never = new CompletableFuture<>();
    source.script.add(count -> never);
    try (PrefetchBuffer buffer = timed(source, PATIENT.withTimeout(Duration.ofMillis(40)))) {
      assertThrows(SnowlaneException.class, buffer::nextIdNow);
      clock.advance(Duration.ofMillis(50));
      assertEquals(1, buffer.stats().refillFailures());
      clock.advance(Duration.ofSeconds(2));
      long id = buffer.nextIdNow();
      assertTrue(id > late.get(0).lastId());
      never.complete(late);
      assertEquals(id + 3, buffer.nextIdNow());
      assertEquals(1, buffer.stats().refills());
    }
  }

  @Test
  void aBadAnswerIsRefusedWhole() {
    List<List<IdRun>> bad =
        List.of(
            List.of(),
            List.of(new IdRun(5, 0, 1)),
            List.of(new IdRun(5, -1, 1)),
            List.of(new IdRun(5, 1, 0)),
            List.of(new IdRun(5, 1, -1)),
            List.of(new IdRun(-5, 1, 1)),
            List.of(new IdRun(Long.MAX_VALUE, 2, 1)),
            List.of(new IdRun(1, 3, Long.MAX_VALUE)),
            List.of(new IdRun(5, 2, 1), new IdRun(6, 2, 1)),
            List.of(new IdRun(50, 2, 1), new IdRun(5, 16, 3)),
            List.of(new IdRun(5, 33, 1)),
            List.of(new IdRun(5, 20, 1), new IdRun(50, 20, 1)));
    StubSource source = new StubSource(0, 1000);
    for (List<IdRun> answer : bad) {
      source.script.add(count -> CompletableFuture.completedFuture(answer));
      ConcurrentLinkedQueue<Optional<ErrorReason>> outcomes = new ConcurrentLinkedQueue<>();
      ClientObserver observer =
          new ClientObserver() {
            @Override
            public void onRefill(RefillEvent event) {
              outcomes.add(event.reason());
              throw new IllegalStateException("an observer's fault is its own");
            }
          };
      try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT, ClientClock.system(), observer)) {
        assertTrue(buffer.nextId() >= 1L << 40, () -> "handed out an ID of " + answer);
        assertEquals(Optional.of(ErrorReason.INVALID_RESPONSE), outcomes.remove());
      }
    }
  }

  @Test
  void theHighestIdsAreHandedOut() {
    StubSource source = new StubSource(0, 1000);
    source.script.add(count -> CompletableFuture.completedFuture(List.of(new IdRun(Long.MAX_VALUE - 4, 3, 2))));
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      assertArrayEquals(new long[] {Long.MAX_VALUE - 4, Long.MAX_VALUE - 2, Long.MAX_VALUE}, buffer.nextIds(3));
    }
  }

  /** The error of a call that waits until its deadline, by the clock of the test. */
  private SnowlaneException errorAtDeadline(PrefetchBuffer buffer) throws Exception {
    Duration timeout = Duration.ofMillis(100);
    long waitsBefore = buffer.stats().waits();
    CompletableFuture<SnowlaneException> error =
        CompletableFuture.supplyAsync(() -> assertThrows(SnowlaneException.class, () -> buffer.nextId(timeout)));
    until(() -> buffer.stats().waits() > waitsBefore);
    clock.advance(timeout);
    return error.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aDryBufferWaitsUntilTheDeadlineAndSaysWhy() throws Exception {
    StubSource source = new StubSource(0, 1000);
    SnowlaneException down = new SnowlaneException(ErrorReason.UNREACHABLE, "Nobody answers.");
    for (int i = 0; i < 100; i++) source.script.add(count -> CompletableFuture.failedFuture(down));
    try (PrefetchBuffer buffer = timed(source, PATIENT)) {
      assertThrows(SnowlaneException.class, buffer::nextIdNow);
      assertEquals(1, buffer.stats().refillFailures());
      SnowlaneException error = errorAtDeadline(buffer);
      assertEquals(ErrorReason.UNREACHABLE, error.reason());
      assertSame(down, error.getCause());
      source.script.clear();
      clock.advance(Duration.ofSeconds(2));
      assertTrue(buffer.nextId() > 0);
    }
    source.script.add(count -> new CompletableFuture<>());
    try (PrefetchBuffer buffer = timed(source, PATIENT)) {
      assertEquals(ErrorReason.DEADLINE_EXCEEDED, errorAtDeadline(buffer).reason());
    }
  }

  @Test
  void stockIsHandedOutWhileReservationsFail() throws Exception {
    StubSource source = new StubSource(0, 1000);
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      buffer.nextId();
      for (int i = 0; i < 100; i++) {
        SnowlaneException down = new SnowlaneException(ErrorReason.STORE_UNAVAILABLE, "down");
        source.script.add(count -> CompletableFuture.failedFuture(down));
      }
      buffer.nextIds(24);
      until(() -> buffer.stats().refillFailures() > 0);
      assertEquals(7, buffer.nextIds(7, Duration.ZERO).length);
    }
  }

  @Test
  void whatNoRetryCanCureFailsWaitingCallsAtOnce() {
    StubSource source = new StubSource(0, 1000);
    source.script.add(
        count -> CompletableFuture.failedFuture(new SnowlaneException(ErrorReason.METHOD_DENIED, "Not for you.")));
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      assertEquals(ErrorReason.METHOD_DENIED, assertThrows(SnowlaneException.class, buffer::nextId).reason());
    }
  }

  @Test
  void closingEndsWaitingCallsAndAllLaterOnes() throws Exception {
    StubSource source = new StubSource(0, 1000);
    source.script.add(count -> new CompletableFuture<>());
    PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT);
    CountDownLatch ended = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              assertEquals(ErrorReason.CLIENT_CLOSED, assertThrows(SnowlaneException.class, buffer::nextId).reason());
              ended.countDown();
            });
    waiter.start();
    until(() -> source.requests.get() == 1);
    buffer.close();
    buffer.close();
    assertTrue(ended.await(60, TimeUnit.SECONDS));
    assertEquals(ErrorReason.CLIENT_CLOSED, assertThrows(SnowlaneException.class, buffer::nextId).reason());
    assertEquals(ErrorReason.CLIENT_CLOSED, assertThrows(SnowlaneException.class, () -> buffer.nextIds(3)).reason());
    assertEquals(0, buffer.stats().stock());
  }

  @Test
  void closingDropsTheStock() {
    PrefetchBuffer buffer = new PrefetchBuffer(new StubSource(0, 1000), PATIENT);
    buffer.nextId();
    buffer.close();
    assertThrows(SnowlaneException.class, buffer::nextId);
    assertEquals(31, buffer.stats().dropped());
    assertEquals(1, buffer.stats().handedOut());
  }

  @Test
  void oneRequestAtATimeWhateverTheNumberOfWaitingCallers() throws Exception {
    StubSource source = new StubSource(0, 100_000);
    CompletableFuture<List<IdRun>> held = new CompletableFuture<>();
    source.script.add(count -> held);
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PATIENT)) {
      List<Thread> waiters = new ArrayList<>();
      for (int i = 0; i < 100; i++) waiters.add(new Thread(buffer::nextId));
      waiters.forEach(Thread::start);
      until(() -> buffer.stats().waits() == 100);
      assertEquals(1, source.requests.get());
      held.complete(source.grant(20));
      for (Thread waiter : waiters) waiter.join();
      assertEquals(100, buffer.stats().handedOut());
      assertFalse(source.requests.get() > 10);
    }
  }

  private static void awaitStubbornly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException early) {
      awaitStubbornly(latch);
    }
  }

  private static void until(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) Thread.sleep(1);
  }
}
