package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a buffer that block no thread. */
@Timeout(180)
class AsyncTest {

  private final FakeClock clock = new FakeClock();
  private final StubSource source = new StubSource(0, 1000);
  private final CompletableFuture<List<IdRun>> held = new CompletableFuture<>();

  private PrefetchBuffer buffer() {
    return new PrefetchBuffer(source, PrefetchOptions.DEFAULTS.withCounts(8, 64), clock, ClientObserver.NONE);
  }

  private static ErrorReason reasonOf(CompletableFuture<?> failed) {
    CompletionException error = assertThrows(CompletionException.class, failed::join);
    return ((SnowlaneException) error.getCause()).reason();
  }

  @Test
  void fromStockItIsCompleteAtOnce() {
    try (PrefetchBuffer buffer = buffer()) {
      long first = buffer.nextId();
      CompletableFuture<Long> id = buffer.nextIdAsync();
      assertTrue(id.isDone());
      assertTrue(id.join() > first);
      assertTrue(buffer.nextIdsAsync(3).isDone());
      assertEquals(1, buffer.stats().waits());
    }
  }

  @Test
  void callersThatWaitGetDistinctIdsOnceTheAnswerComes() {
    source.script.add(count -> held);
    try (PrefetchBuffer buffer = buffer()) {
      List<CompletableFuture<Long>> waiting = new ArrayList<>();
      for (int i = 0; i < 50; i++) waiting.add(buffer.nextIdAsync());
      CompletableFuture<long[]> block = buffer.nextIdsAsync(30);
      assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
      assertEquals(1, source.requests.get());
      assertEquals(51, buffer.stats().waits());
      held.complete(source.grant(8));
      List<Long> ids = new ArrayList<>(waiting.stream().map(CompletableFuture::join).toList());
      for (long id : block.join()) ids.add(id);
      assertEquals(80, ids.stream().distinct().count());
      assertEquals(80, buffer.stats().handedOut());
    }
  }

  @Test
  void aCallThatIsCancelledClaimsNothing() {
    source.script.add(count -> held);
    try (PrefetchBuffer buffer = buffer()) {
      CompletableFuture<Long> cancelled = buffer.nextIdAsync();
      CompletableFuture<long[]> block = buffer.nextIdsAsync(4);
      CompletableFuture<Long> kept = buffer.nextIdAsync();
      assertTrue(cancelled.cancel(true) && block.cancel(true));
      held.complete(source.grant(8));
      assertTrue(kept.join() > 0);
      assertThrows(CancellationException.class, cancelled::join);
      assertEquals(1, buffer.stats().handedOut());
    }
  }

  @Test
  void itEndsAtItsDeadlineWithWhatTheLastReservationFailedWith() {
    source.script.add(count -> held);
    try (PrefetchBuffer buffer = buffer()) {
      CompletableFuture<Long> id = buffer.nextIdAsync(Duration.ofMillis(100));
      clock.advance(Duration.ofMillis(99));
      assertFalse(id.isDone());
      clock.advance(Duration.ofMillis(1));
      assertEquals(ErrorReason.DEADLINE_EXCEEDED, reasonOf(id));
      CompletableFuture<Long> later = buffer.nextIdAsync(Duration.ofMillis(100));
      held.completeExceptionally(new SnowlaneException(ErrorReason.STORE_UNAVAILABLE, "down"));
      for (int i = 0; i < 20; i++) source.script.add(count -> new CompletableFuture<>());
      clock.advance(Duration.ofMillis(100));
      assertEquals(ErrorReason.STORE_UNAVAILABLE, reasonOf(later));
    }
  }

  @Test
  void whatNoWaitingCuresAndAnEndOfTheBufferFailItAtOnce() {
    source.script.add(count -> held);
    PrefetchBuffer buffer = buffer();
    CompletableFuture<Long> denied = buffer.nextIdAsync();
    held.completeExceptionally(new SnowlaneException(ErrorReason.METHOD_DENIED, "Not for you."));
    assertEquals(ErrorReason.METHOD_DENIED, reasonOf(denied));
    CompletableFuture<Long> waiting = buffer.nextIdAsync();
    buffer.close();
    assertEquals(ErrorReason.CLIENT_CLOSED, reasonOf(waiting));
    assertEquals(ErrorReason.CLIENT_CLOSED, reasonOf(buffer.nextIdAsync()));
    assertEquals(ErrorReason.COUNT_OUT_OF_RANGE, reasonOf(buffer.nextIdsAsync(0)));
  }

  @Test
  void whatFollowsRunsWithoutTheLockOfTheBuffer() {
    source.script.add(count -> held);
    try (PrefetchBuffer buffer = buffer()) {
      CompletableFuture<long[]> three =
          buffer.nextIdAsync().thenApply(id -> new long[] {id, buffer.nextId(), buffer.stats().waits()});
      held.complete(source.grant(8));
      long[] got = three.join();
      assertArrayEquals(new long[] {1}, new long[] {got[2]});
      assertTrue(got[0] != got[1]);
    }
  }
}
