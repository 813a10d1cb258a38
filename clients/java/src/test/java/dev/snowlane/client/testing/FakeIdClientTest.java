package dev.snowlane.client.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.IdRun;
import dev.snowlane.client.IdSource;
import dev.snowlane.client.IdStream;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.PrefetchOptions;
import dev.snowlane.client.ReservedValues;
import dev.snowlane.client.Sequence;
import dev.snowlane.client.SequenceValue;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.StreamOptions;
import dev.snowlane.client.ValueRun;
import dev.snowlane.client.ValueStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(180)
class FakeIdClientTest {

  private static SnowlaneException expect(ErrorReason reason, Executable call) {
    SnowlaneException error = assertThrows(SnowlaneException.class, call);
    assertEquals(reason, error.reason());
    return error;
  }

  @Test
  void handsOutWhatTheScriptSays() {
    try (FakeIdClient fake =
        new FakeIdClient(
            Step.id(1),
            Step.fail(ErrorReason.STORE_UNAVAILABLE, Duration.ofSeconds(1)),
            Step.run(10, 3, 5),
            Step.id(4))) {
      IdSource ids = fake;
      assertEquals(1, ids.nextId());
      SnowlaneException error = expect(ErrorReason.STORE_UNAVAILABLE, ids::nextId);
      assertEquals(Optional.of(Duration.ofSeconds(1)), error.retryAfter());
      assertEquals(10, ids.nextId());
      assertEquals(List.of(new IdRun(15, 2, 5), new IdRun(4, 1, 1)), ids.reserveAsync(9).join());
      expect(ErrorReason.SCRIPT_ENDED, ids::nextId);
      assertEquals("twitter", ids.parse(1541815603606036480L).layout().name());
      assertThrows(IllegalArgumentException.class, () -> Step.run(1, 0, 1));
      assertThrows(IllegalArgumentException.class, () -> Step.run(Long.MAX_VALUE, 2, 1));
    }
  }

  @Test
  void idsAndStreamsTakeAsManyStepsAsTheyNeed() {
    FakeIdClient ids = new FakeIdClient(Step.run(1, 5, 1), Step.id(9), Step.run(20, 10, 1));
    assertArrayEquals(new long[] {1, 2, 3, 4, 5, 9, 20}, ids.nextIds(7));
    List<Integer> sizes = new ArrayList<>();
    try (IdStream stream = ids.stream(9, StreamOptions.DEFAULTS.withChunkSize(4))) {
      for (long[] chunk : stream) sizes.add(chunk.length);
    }
    assertEquals(List.of(4, 4, 1), sizes);
    expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> ids.nextIds(0));
    expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> ids.stream(0));
    ids.close();
    expect(ErrorReason.CLIENT_CLOSED, ids::nextId);
  }

  @Test
  void aDelayLastsUntilTheClockIsAdvanced() {
    FakeIdClient ids = new FakeIdClient(Step.delay(Duration.ofSeconds(2)), Step.id(7));
    CompletableFuture<List<IdRun>> answer = ids.reserveAsync(1);
    ids.clock().advance(Duration.ofMillis(1_999));
    assertFalse(answer.isDone());
    ids.clock().advance(Duration.ofMillis(1));
    assertEquals(List.of(new IdRun(7, 1, 1)), answer.join());
  }

  @Test
  void aBufferOverTheScriptKeepsToTheClock() {
    FakeIdClient ids = new FakeIdClient(Step.run(100, 32, 1), Step.run(200, 32, 1), Step.run(300, 64, 1));
    PrefetchBuffer buffer = ids.prefetch(PrefetchOptions.DEFAULTS.withCounts(32, 64));
    assertEquals(100, buffer.nextId());
    ids.clock().advance(Duration.ofSeconds(5));
    assertEquals(31, buffer.stats().dropped());
    assertEquals(200, buffer.nextId());
    ids.close();
    expect(ErrorReason.CLIENT_CLOSED, buffer::nextId);
  }

  @Test
  void aBufferTriesAgainAfterTheTimeThatTheScriptNames() {
    FakeIdClient ids =
        new FakeIdClient(Step.fail(ErrorReason.BURST_EXCEEDED, Duration.ofMillis(800)), Step.run(100, 32, 1));
    PrefetchBuffer buffer = ids.prefetch();
    expect(ErrorReason.STOCK_EMPTY, buffer::nextIdNow);
    ids.clock().advance(Duration.ofMillis(700));
    expect(ErrorReason.STOCK_EMPTY, buffer::nextIdNow);
    // The wait is stretched by at most a half.
    ids.clock().advance(Duration.ofMillis(600));
    assertEquals(100, buffer.nextIdNow());
  }

  @Test
  void aLongTimeThatTheScriptNamesCountsForASecond() {
    FakeIdClient ids =
        new FakeIdClient(Step.fail(ErrorReason.BURST_EXCEEDED, Duration.ofMinutes(3)), Step.run(100, 32, 1));
    PrefetchBuffer buffer = ids.prefetch();
    expect(ErrorReason.STOCK_EMPTY, buffer::nextIdNow);
    ids.clock().advance(Duration.ofMillis(900));
    expect(ErrorReason.STOCK_EMPTY, buffer::nextIdNow);
    ids.clock().advance(Duration.ofMillis(700));
    assertEquals(100, buffer.nextIdNow());
  }

  @Test
  void theClockDoesWhatFallsDueInOrder() {
    FakeClock clock = new FakeClock(Instant.ofEpochMilli(1_000));
    List<String> done = new ArrayList<>();
    clock.after(2_000_000, () -> done.add("second at " + clock.nowMs()));
    clock.after(1_000_000, () -> clock.after(500_000, () -> done.add("set by the first")));
    clock.after(3_000_000, () -> done.add("never")).cancel();
    clock.after(0, () -> done.add("at once"));
    clock.advance(Duration.ofMillis(10));
    assertEquals(List.of("at once", "set by the first", "second at 1002"), done);
    assertEquals(1_010, clock.nowMs());
    assertTrue(clock.nanos() == 10_000_000);
  }

  @Test
  void aSequenceFollowsItsScript() {
    FakeIdClient ids = new FakeIdClient();
    SequenceValue january = new SequenceValue(9, "2026-01/9", "2026-01");
    SequenceValue february = new SequenceValue(1, "2026-02/1", "2026-02");
    ids.addSequence("orders", Step.values(10, 4, 10), Step.fail(ErrorReason.SEQUENCE_DISABLED));
    ids.addSequence("invoices", Step.value(january), Step.value(february), Step.values(3, 1, 1));
    Sequence orders = ids.sequence("orders");
    Sequence invoices = ids.sequence("invoices");
    assertEquals(10, orders.nextValue().value());
    assertEquals(List.of(20L, 30L), orders.nextValues(2).stream().map(SequenceValue::value).toList());
    assertEquals(new ReservedValues(List.of(new ValueRun(40, 1, 1)), ""), orders.reserve(9));
    expect(ErrorReason.SEQUENCE_DISABLED, orders::nextValue);
    expect(ErrorReason.SCRIPT_ENDED, orders::nextValue);
    List<List<SequenceValue>> chunks = new ArrayList<>();
    try (ValueStream stream = invoices.stream(2)) {
      stream.forEach(chunks::add);
    }
    assertEquals(List.of(List.of(january), List.of(february)), chunks);
    expect(ErrorReason.INVALID_SEQUENCE, invoices::nextText);
    expect(ErrorReason.SEQUENCE_NOT_FOUND, ids.sequence("none")::nextValue);
    ids.close();
    expect(ErrorReason.CLIENT_CLOSED, orders::nextValue);
  }
}
