package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.v1.BatchNextValuesResponse;
import dev.snowlane.v1.NextValueRequest;
import dev.snowlane.v1.NextValueResponse;
import dev.snowlane.v1.ReserveValuesResponse;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class SequenceTest extends ScriptedServerTest {

  private static final long LAST = Long.MAX_VALUE;

  private static BatchNextValuesResponse chunk(String periodKey, List<Long> values, String... texts) {
    return BatchNextValuesResponse.newBuilder()
        .addAllValues(values)
        .addAllTexts(List.of(texts))
        .setPeriodKey(periodKey)
        .build();
  }

  private static dev.snowlane.v1.ValueRun run(long firstValue, int count, long increment) {
    return dev.snowlane.v1.ValueRun.newBuilder()
        .setFirstValue(firstValue)
        .setCount(count)
        .setIncrement(increment)
        .build();
  }

  @Test
  void aValueOfAnotherTimesPeriodIsAskedForByThatTime() {
    List<NextValueRequest> requests = new CopyOnWriteArrayList<>();
    server.sequences.onNextValue =
        request -> {
          requests.add(request);
          return NextValueResponse.newBuilder().setValue(1).setText("a").build();
        };
    Sequence orders = connect().sequence("orders");
    Instant time = Instant.ofEpochSecond(1_774_000_000, 5);
    orders.nextValueFor(time);
    assertEquals("a", orders.nextTextFor(time));
    orders.nextValue();
    assertEquals(List.of(true, true, false), requests.stream().map(NextValueRequest::hasForTime).toList());
    assertEquals(1_774_000_000, requests.get(1).getForTime().getSeconds());
    assertEquals(5, requests.get(1).getForTime().getNanos());
  }

  @Test
  void valuesUpToTheLastArriveExactlyAndEachMethodSendsTheName() {
    List<String> names = new CopyOnWriteArrayList<>();
    server.sequences.onNextValue =
        request -> {
          names.add(request.getName());
          return NextValueResponse.newBuilder().setValue(LAST).setText("a").setPeriodKey("2026").build();
        };
    server.sequences.onReserve =
        request -> {
          names.add(request.getName() + " " + request.getCount());
          return ReserveValuesResponse.newBuilder().addRuns(run(LAST - 4, 3, 2)).setPeriodKey("2026").build();
        };
    server.sequences.onBatch =
        (request, send) -> {
          names.add(request.getName() + " " + request.getCount());
          send.accept(chunk("2026", List.of(1L << 53, (1L << 53) + 1), "x", "y"));
          send.accept(chunk("2027", List.of(LAST)));
        };
    Sequence orders = connect().sequence("orders");
    assertEquals(new SequenceValue(LAST, "a", "2026"), orders.nextValue());
    assertEquals("a", orders.nextText());
    assertEquals(new ReservedValues(List.of(new ValueRun(LAST - 4, 3, 2)), "2026"), orders.reserve(7));
    List<SequenceValue> values = orders.nextValues(3);
    assertEquals(
        List.of(
            new SequenceValue(1L << 53, "x", "2026"),
            new SequenceValue((1L << 53) + 1, "y", "2026"),
            new SequenceValue(LAST, "", "2027")),
        values);
    assertEquals(List.of("orders", "orders", "orders 7", "orders 3"), names);
  }

  @Test
  void valuesOfAnotherDatabaseOfSequencesAreRefusedByEveryMethod() {
    AtomicInteger database = new AtomicInteger();
    server.sequences.onNextValue =
        request -> NextValueResponse.newBuilder().setValue(7).setDatabase(database.get()).build();
    server.sequences.onReserve =
        request -> ReserveValuesResponse.newBuilder().addRuns(run(1, 1, 1)).setDatabase(database.get()).build();
    server.sequences.onBatch =
        (request, send) ->
            send.accept(BatchNextValuesResponse.newBuilder().addValues(7).setDatabase(database.get()).build());
    Sequence orders = connect(patient().retryMax(0), server).sequence("orders");
    List<Runnable> calls = List.of(orders::nextValue, () -> orders.reserve(1), () -> orders.nextValues(1));
    // An older server reports no number.
    for (int number : new int[] {0xab, 0xcd, 0, 0xab}) {
      database.set(number);
      for (Runnable call : calls) {
        if (number != 0xcd) {
          call.run();
          continue;
        }
        SnowlaneException error = assertThrows(SnowlaneException.class, call::run);
        assertEquals(ErrorReason.DEPLOYMENT_MISMATCH, error.reason());
        Map<String, String> numbers = Map.of("database", "000000cd", "expected_database", "000000ab");
        assertTrue(error.metadata().entrySet().containsAll(numbers.entrySet()), error.metadata().toString());
      }
    }
  }

  @Test
  void aServerThatIsUnavailableIsAskedAgainAndNoOtherErrorIs() {
    AtomicInteger calls = new AtomicInteger();
    server.sequences.onNextValue =
        request -> {
          if (calls.incrementAndGet() > 1) return NextValueResponse.newBuilder().setValue(8).build();
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE");
        };
    Sequence orders = connect().sequence("orders");
    assertEquals(8, orders.nextValue().value());
    assertEquals(2, calls.get());
    server.sequences.onNextValue =
        request -> {
          calls.incrementAndGet();
          Map<String, String> metadata = Map.of("name", request.getName());
          throw ScriptedServer.fault(Status.Code.NOT_FOUND, "SEQUENCE_NOT_FOUND", Duration.ZERO, metadata);
        };
    SnowlaneException error = expect(ErrorReason.SEQUENCE_NOT_FOUND, orders::nextValue);
    assertEquals(Map.of("name", "orders"), error.metadata());
    assertEquals(3, calls.get());
  }

  @Test
  void aStreamThatBreaksIsTakenUpForTheRestUnlessItIsOrdered() {
    List<Long> asked = new CopyOnWriteArrayList<>();
    server.sequences.onBatch =
        (request, send) -> {
          asked.add(request.getCount());
          send.accept(chunk("", List.of((long) asked.size())));
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE");
        };
    Sequence orders = connect().sequence("orders");
    List<Long> values = new ArrayList<>();
    try (ValueStream stream = orders.stream(3)) {
      for (List<SequenceValue> chunk : stream) chunk.forEach(value -> values.add(value.value()));
    }
    assertEquals(List.of(1L, 2L, 3L), values);
    assertEquals(List.of(3L, 2L, 1L), asked);
    try (ValueStream stream = orders.stream(3, StreamOptions.DEFAULTS.withOrdered(true))) {
      assertEquals(List.of(new SequenceValue(4, "", "")), stream.next());
      expect(ErrorReason.STORE_UNAVAILABLE, stream::next);
    }
  }

  @Test
  void closingAStreamCancelsItAndACallKeepsToItsDeadline() throws Exception {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    server.sequences.onBatch =
        (request, send) -> {
          send.accept(chunk("", List.of(1L)));
          ScriptedServer.hang();
          ended.complete(null);
        };
    server.sequences.onNextValue =
        request -> {
          ScriptedServer.hang();
          return NextValueResponse.getDefaultInstance();
        };
    Sequence orders = connect().sequence("orders");
    try (ValueStream stream = orders.stream(10)) {
      assertEquals(List.of(new SequenceValue(1, "", "")), stream.next());
    }
    ended.get();
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> orders.nextValue(Duration.ofMillis(50)));
  }

  @Test
  void anAnswerThatCannotBeIsRefusedWhole() {
    Sequence orders = connect().sequence("orders");
    for (long value : new long[] {0, -1}) {
      server.sequences.onNextValue = request -> NextValueResponse.newBuilder().setValue(value).build();
      expect(ErrorReason.INVALID_RESPONSE, orders::nextValue);
    }
    List<List<dev.snowlane.v1.ValueRun>> refused =
        List.of(
            List.of(),
            List.of(run(5, 6, 1)),
            List.of(run(5, 2, 1), run(6, 1, 1)),
            List.of(run(5, 2, 0)),
            List.of(run(5, 2, -1)),
            List.of(run(-5, 1, 1)),
            List.of(run(LAST, 2, 1)));
    for (List<dev.snowlane.v1.ValueRun> runs : refused) {
      server.sequences.onReserve = request -> ReserveValuesResponse.newBuilder().addAllRuns(runs).build();
      expect(ErrorReason.INVALID_RESPONSE, () -> orders.reserve(5));
    }
    List<BatchNextValuesResponse> chunks =
        List.of(
            chunk("", List.of()),
            chunk("", List.of(1L)),
            chunk("", List.of(1L, 2L, 3L)),
            chunk("", List.of(1L, 0L)),
            chunk("", List.of(1L, 2L), "1"));
    for (BatchNextValuesResponse chunk : chunks) {
      server.sequences.onBatch = (request, send) -> send.accept(chunk);
      expect(ErrorReason.INVALID_RESPONSE, () -> orders.nextValues(2));
    }
  }

  @Test
  void aSequenceWithoutATemplateHasNoTextAndACountOutOfRangeSendsNothing() {
    server.sequences.onNextValue = request -> NextValueResponse.newBuilder().setValue(4).build();
    Sequence orders = connect().sequence("orders");
    SnowlaneException error = expect(ErrorReason.INVALID_SEQUENCE, orders::nextText);
    assertEquals(Map.of("name", "orders", "value", "4", "field", "text_template"), error.metadata());
    expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> orders.nextValues(0));
    expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> orders.reserve(1_048_577));
    expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> orders.stream(1_000_000_001));
  }
}
