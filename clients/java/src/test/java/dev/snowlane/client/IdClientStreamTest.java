package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class IdClientStreamTest extends ScriptedServerTest {

  @Test
  void aStreamThatIsCutGoesOn() {
    AtomicInteger cuts = new AtomicInteger(6);
    server.onBatch =
        (request, chunks) -> {
          for (long i = 0; i < request.getCount(); i++) {
            long id = server.nextId.getAndIncrement();
            chunks.send(id);
            if (id % 5 == 0 && cuts.getAndDecrement() > 0) {
              throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "CLOCK_ROLLED_BACK");
            }
          }
        };
    long[] ids = collect(connect(), 100, StreamOptions.DEFAULTS);
    assertEquals(100, Arrays.stream(ids).distinct().count());
    assertTrue(cuts.get() <= 0);
    cuts.set(1);
    StreamOptions ordered = StreamOptions.DEFAULTS.withOrdered(true);
    SnowlaneException error = assertThrows(SnowlaneException.class, () -> collect(connect(), 100, ordered));
    assertEquals(ErrorReason.CLOCK_ROLLED_BACK, error.reason());
  }

  @Test
  void theStreamOfAKilledServerGoesOnElsewhere() {
    ScriptedServer second = opened(new ScriptedServer());
    second.nextId.set(1_000_000_000);
    IdClient client = connect(patient(), server, second);
    List<long[]> chunks = new ArrayList<>();
    long count = 0;
    boolean isKilled = false;
    try (IdStream stream = client.stream(300_000)) {
      for (long[] ids : stream) {
        chunks.add(ids);
        count += ids.length;
        if (isKilled || count < 100_000) continue;
        isKilled = true;
        (server.calls.get() > 0 ? server : second).kill();
      }
    }
    assertEquals(300_000, chunks.stream().flatMapToLong(Arrays::stream).distinct().count());
    assertTrue(server.calls.get() > 0 && second.calls.get() > 0);
  }

  @Test
  void closingAStreamCancelsIt() throws Exception {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    server.onBatch =
        (request, chunks) -> {
          chunks.send(1L);
          ScriptedServer.hang();
          ended.complete(null);
        };
    try (IdStream stream = connect().stream(10)) {
      assertArrayEquals(new long[] {1}, stream.next());
    }
    ended.get();
  }

  @Test
  void aChunkThatDoesNotComeIsNotWaitedForForEver() {
    server.onBatch =
        (request, chunks) -> {
          chunks.send(1L);
          ScriptedServer.hang();
        };
    IdClientBuilder builder = patient().retryMax(0).attemptTimeout(Duration.ofMillis(300));
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> collect(connect(builder, server), 2, StreamOptions.DEFAULTS));
    StreamOptions brief = StreamOptions.DEFAULTS.withTimeout(Duration.ofMillis(300));
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> collect(connect(), 2, brief));
  }

  @Test
  void aReaderMayTakeLongerThanTheTimeoutOfTheClient() {
    FakeClock clock = new FakeClock();
    try (IdStream stream = connect(patient().clock(clock), server).stream(3, StreamOptions.DEFAULTS.withChunkSize(1))) {
      for (int i = 1; i <= 3; i++) {
        clock.advance(Duration.ofMinutes(10));
        assertArrayEquals(new long[] {i}, stream.next());
      }
      clock.advance(Duration.ofMinutes(10));
      assertFalse(stream.hasNext());
    }
  }

  @Test
  void aStreamThatFailedGoesOnFailing() {
    server.onBatch =
        (request, chunks) -> {
          throw ScriptedServer.fault(Status.Code.INVALID_ARGUMENT, "COUNT_OUT_OF_RANGE");
        };
    try (IdStream stream = connect().stream(10)) {
      expect(ErrorReason.COUNT_OUT_OF_RANGE, stream::next);
      expect(ErrorReason.COUNT_OUT_OF_RANGE, stream::hasNext);
      expect(ErrorReason.COUNT_OUT_OF_RANGE, stream::next);
    }
    assertEquals(1, server.calls.get());
  }

  @Test
  void streamsThatPauseHoldUpNoCallAndShareConnections() {
    IdClient client = connect();
    client.nextId();
    List<IdStream> paused = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      IdStream stream = client.stream(1_000, StreamOptions.DEFAULTS.withChunkSize(1));
      assertEquals(1, stream.next().length);
      paused.add(stream);
    }
    for (int i = 0; i < 10; i++) assertTrue(client.nextId() > 0);
    assertEquals(3, server.connections());
    paused.forEach(IdStream::close);
  }
}
