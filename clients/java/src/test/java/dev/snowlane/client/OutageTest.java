package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class OutageTest {

  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final Duration STEP = Duration.ofMillis(250);

  /** Grants ever new IDs, and fails while it is dead. */
  private static final class MortalSource implements RunSource {
    final StubSource living = new StubSource(0, 1 << 20);
    final List<Integer> asked = new ArrayList<>();
    boolean isDead;

    @Override
    public CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout) {
      asked.add(count);
      if (!isDead) return living.reserveAsync(count, timeout);
      return CompletableFuture.failedFuture(new SnowlaneException(ErrorReason.UNREACHABLE, "It is dead."));
    }
  }

  private final MortalSource source = new MortalSource();
  private final FakeClock clock = new FakeClock();
  private final Set<Long> taken = new HashSet<>();

  private PrefetchBuffer buffer(PrefetchOptions options) {
    return new PrefetchBuffer(source, options, clock, ClientObserver.NONE);
  }

  /** Takes IDs at an even rate, and never the same twice. */
  private void run(PrefetchBuffer buffer, Duration duration, int perSecond) {
    Duration step = perSecond < 4 ? Duration.ofSeconds(1) : STEP;
    int count = (int) (perSecond * step.toMillis() / 1000);
    for (long left = duration.dividedBy(step); left > 0; left--) {
      for (long id : buffer.nextIds(count)) assertTrue(taken.add(id));
      clock.advance(step);
    }
  }

  @Test
  void aThousandIdsASecondGoOnForTenMinutesWithoutAnyServer() {
    try (PrefetchBuffer buffer = buffer(PrefetchOptions.DEFAULTS.withOutage(TEN_MINUTES))) {
      run(buffer, Duration.ofMinutes(3), 1000);
      BufferStats before = buffer.stats();
      assertTrue(before.outageLeft().compareTo(TEN_MINUTES) > 0, before.toString());
      assertTrue(before.outageLeft().compareTo(TEN_MINUTES.multipliedBy(2)) <= 0, before.toString());
      source.isDead = true;
      run(buffer, TEN_MINUTES, 1000);
      source.isDead = false;
      run(buffer, Duration.ofMinutes(2), 1000);
      BufferStats after = buffer.stats();
      assertEquals(before.waits(), after.waits());
      assertTrue(after.refillFailures() > 0);
      assertEquals(after.reserved(), after.handedOut() + after.dropped() + after.stock());
    }
  }

  @Test
  void itIsFilledGentlyAndDroppedAtTheEnd() {
    PrefetchBuffer buffer = buffer(PrefetchOptions.DEFAULTS.withOutage(TEN_MINUTES));
    run(buffer, Duration.ofMinutes(2), 1000);
    long stock = buffer.stats().stock();
    assertTrue(stock > 579_500 && stock < 640_500, "" + stock);
    assertTrue(source.asked.stream().allMatch(count -> count <= 28_000), "" + source.asked);
    long droppedBefore = buffer.stats().dropped();
    buffer.close();
    assertEquals(0, buffer.stats().stock());
    assertEquals(stock, buffer.stats().dropped() - droppedBefore);
  }

  @Test
  void itFollowsTheRateAndABufferThatNobodyUsesGoesToSleep() {
    PrefetchOptions options =
        PrefetchOptions.DEFAULTS.withOutage(Duration.ofSeconds(10)).withMaxAge(Duration.ofSeconds(40));
    try (PrefetchBuffer buffer = buffer(options)) {
      run(buffer, Duration.ofMinutes(4), 100);
      BufferStats even = buffer.stats();
      // Some 2.2 IDs are reserved for one that is used.
      assertTrue(even.stock() >= 1_900, even.toString());
      assertTrue((even.reserved() - even.stock()) * 10 <= even.handedOut() * 23, even.toString());
      run(buffer, Duration.ofMinutes(2), 1);
      assertTrue(buffer.stats().stock() <= 160, buffer.stats().toString());
      clock.advance(Duration.ofMinutes(3));
      int asked = source.asked.size();
      clock.advance(TEN_MINUTES);
      assertEquals(asked, source.asked.size());
      assertEquals(0, buffer.stats().stock());
      assertEquals(Duration.ZERO, buffer.stats().outageLeft());
      buffer.nextId();
    }
  }

  @Test
  void stockMaxBoundsIt() {
    try (PrefetchBuffer buffer = buffer(PrefetchOptions.DEFAULTS.withOutage(TEN_MINUTES).withStockMax(20_000))) {
      run(buffer, Duration.ofMinutes(4), 1000);
      long stock = buffer.stats().stock();
      assertTrue(stock >= 18_000 && stock <= 21_250, "" + stock);
    }
  }

  @Test
  void idsAreFreshAgainOnceServersAreBack() {
    PrefetchOptions options =
        PrefetchOptions.DEFAULTS.withOutage(Duration.ofSeconds(10)).withMaxAge(Duration.ofSeconds(40));
    try (PrefetchBuffer buffer = buffer(options)) {
      run(buffer, Duration.ofMinutes(1), 100);
      source.isDead = true;
      run(buffer, Duration.ofSeconds(8), 100);
      long highestBefore = source.living.grant(1).get(0).firstId();
      source.isDead = false;
      run(buffer, Duration.ofSeconds(4), 100);
      assertTrue(buffer.nextId() > highestBefore);
    }
  }

  @Test
  void optionsOutOfRangeAreRefused() {
    PrefetchOptions minute = PrefetchOptions.DEFAULTS.withOutage(Duration.ofMinutes(1));
    List<Consumer<PrefetchOptions>> bad =
        List.of(
            options -> options.withOutage(Duration.ofMillis(999)),
            options -> options.withOutage(Duration.ofMinutes(30).plusMillis(1)),
            options -> options.withMaxAge(Duration.ofSeconds(59)),
            options -> options.withMaxAge(Duration.ofMinutes(61)),
            options -> options.withStockMax(0));
    for (Consumer<PrefetchOptions> change : bad)
      assertThrows(IllegalArgumentException.class, () -> change.accept(minute));
    assertEquals(Duration.ofHours(1), minute.withOutage(Duration.ofMinutes(30)).maxAge());
    assertEquals(Duration.ofSeconds(32), minute.withOutage(Duration.ofSeconds(2)).maxAge());
  }
}
