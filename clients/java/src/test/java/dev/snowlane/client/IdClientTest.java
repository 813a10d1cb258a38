package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Timestamp;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.LayoutFieldKind;
import dev.snowlane.v1.Limits;
import dev.snowlane.v1.Ordering;
import dev.snowlane.v1.RollbackPolicy;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class IdClientTest extends ScriptedServerTest {

  private static final long BIG = (1L << 62) + 1;

  @Test
  void idsAbove53BitsComeOutWhole() {
    server.nextId.set(BIG);
    IdClient client = connect();
    assertEquals(BIG, client.nextId());
    assertArrayEquals(new long[] {BIG + 1, BIG + 2, BIG + 3}, client.nextIds(3));
    long[] streamed = collect(client, 3, StreamOptions.DEFAULTS.withChunkSize(2));
    assertArrayEquals(new long[] {BIG + 4, BIG + 5, BIG + 6}, streamed);
    assertEquals(List.of(new IdRun(BIG + 7, 5, 1)), client.reserveAsync(5).join());
  }

  @Test
  void nextIdsGoesOnUntilItHasAll() {
    AtomicInteger first = new AtomicInteger();
    server.onReserve = count -> List.of(ScriptedServer.run(first.addAndGet(10), 2, 3));
    assertArrayEquals(new long[] {10, 13, 20, 23}, connect().nextIds(4));
  }

  @Test
  void countsOutOfRangeAreRefusedWithoutACall() {
    IdClient client = connect();
    for (int count : new int[] {0, -1, 1_048_577}) {
      expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> client.nextIds(count));
      ExecutionException failed = assertThrows(ExecutionException.class, () -> client.reserveAsync(count).get());
      assertEquals(ErrorReason.COUNT_OUT_OF_RANGE, ((SnowlaneException) failed.getCause()).reason());
    }
    for (long count : new long[] {0, -1, 1_000_000_001}) {
      expect(ErrorReason.COUNT_OUT_OF_RANGE, () -> client.stream(count));
    }
    assertEquals(0, server.calls.get());
  }

  @Test
  void reservationsBeyondTheThreadsOfAClientQueueAndTheirTimeCounts() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    AtomicLong first = new AtomicLong();
    server.onReserve =
        count -> {
          try {
            gate.await();
          } catch (InterruptedException killed) {
            Thread.currentThread().interrupt();
          }
          return List.of(ScriptedServer.run(first.incrementAndGet(), 1, 1));
        };
    IdClient client = connect();
    List<CompletableFuture<List<IdRun>>> answers = new ArrayList<>();
    for (int i = 0; i < Reservations.THREADS_MAX; i++) answers.add(client.reserveAsync(1));
    until(() -> server.calls.get() == Reservations.THREADS_MAX);
    for (int i = 0; i < 100; i++) answers.add(client.reserveAsync(1));
    CompletableFuture<List<IdRun>> cancelled = client.reserveAsync(1);
    cancelled.cancel(true);
    ExecutionException late =
        assertThrows(ExecutionException.class, () -> client.reserveAsync(1, Duration.ofMillis(20)).get());
    assertEquals(ErrorReason.DEADLINE_EXCEEDED, ((SnowlaneException) late.getCause()).reason());
    // A client of its own has its own threads.
    IdClient other = connect();
    CompletableFuture<List<IdRun>> besides = other.reserveAsync(1);
    until(() -> server.calls.get() == Reservations.THREADS_MAX + 1);
    gate.countDown();
    besides.get();
    for (CompletableFuture<List<IdRun>> answer : answers) answer.get();
    assertEquals(answers.size() + 1, server.calls.get());
  }

  @Test
  void aCancelledReservationDoesNotEndTheNextOnItsThread() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    server.onReserve =
        count -> {
          if (gate.getCount() > 0) ScriptedServer.hang();
          return List.of(ScriptedServer.run(1, 1, 1));
        };
    IdClient client = connect();
    List<CompletableFuture<List<IdRun>>> hanging = new ArrayList<>();
    for (int i = 0; i < Reservations.THREADS_MAX; i++) hanging.add(client.reserveAsync(1));
    until(() -> server.calls.get() == Reservations.THREADS_MAX);
    List<CompletableFuture<List<IdRun>>> next = new ArrayList<>();
    for (int i = 0; i < Reservations.THREADS_MAX; i++) next.add(client.reserveAsync(1));
    gate.countDown();
    hanging.forEach(answer -> answer.cancel(true));
    for (CompletableFuture<List<IdRun>> answer : next) assertEquals(1, answer.get().size());
  }

  @Test
  void aTokenGoesOutWithEachAttempt() {
    AtomicInteger number = new AtomicInteger();
    AtomicInteger failures = new AtomicInteger(1);
    server.onNextId =
        () -> {
          if (failures.getAndDecrement() > 0) throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "");
          return 7;
        };
    IdClient client = connect(patient().token(() -> "secret" + number.incrementAndGet()), server);
    client.nextId();
    client.reserveAsync(1).join();
    collect(client, 1, StreamOptions.DEFAULTS);
    assertEquals(
        List.of("Bearer secret1", "Bearer secret2", "Bearer secret3", "Bearer secret4"), List.copyOf(server.tokens));
  }

  @Test
  void answersThatCannotBeAreRefusedAndNotAskedForAgain() {
    IdClient client = connect();
    for (long id : new long[] {0, Long.MIN_VALUE}) {
      server.onNextId = () -> id;
      expect(ErrorReason.INVALID_RESPONSE, client::nextId);
    }
    List<List<dev.snowlane.v1.IdRun>> bad =
        List.of(
            List.of(),
            List.of(ScriptedServer.run(1, -1, 1)),
            List.of(ScriptedServer.run(0, 1, 1)),
            List.of(ScriptedServer.run(1, 3, 1), ScriptedServer.run(3, 3, 1)));
    for (List<dev.snowlane.v1.IdRun> runs : bad) {
      server.onReserve = count -> runs;
      expect(ErrorReason.INVALID_RESPONSE, () -> client.nextIds(100));
    }
    server.onBatch =
        (request, chunks) -> {
          chunks.send(3L, 4L);
          chunks.send(4L);
        };
    for (int count : new int[] {1, 2, 3, 4}) {
      expect(ErrorReason.INVALID_RESPONSE, () -> collect(client, count, StreamOptions.DEFAULTS));
    }
    Long[][] badChunks = {{}, {0L}, {5L, 5L}, {3L, 2L}, {1L, Long.MIN_VALUE, 3L}};
    for (Long[] ids : badChunks) {
      server.onBatch = (request, chunks) -> chunks.send(ids);
      expect(ErrorReason.INVALID_RESPONSE, () -> collect(client, Math.max(ids.length, 1), StreamOptions.DEFAULTS));
    }
    assertEquals(15, server.calls.get());
  }

  @Test
  void aBufferGoesOnWhenItsServerIsStartedAgain() throws Exception {
    IdClient client = connect();
    PrefetchBuffer buffer = client.prefetch();
    List<long[]> taken = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      taken.add(buffer.nextIds(2_000));
      server.kill();
      CompletableFuture<Void> restarted =
          CompletableFuture.runAsync(
              server::restart, CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS));
      taken.add(buffer.nextIds(100_000));
      restarted.get();
    }
    long[] all = taken.stream().flatMapToLong(Arrays::stream).toArray();
    assertEquals(306_000, Arrays.stream(all).distinct().count());
  }

  /** By the clock of the client, the first attempt takes as long as IDs may be used. */
  @Test
  void aRetriedReservationIsAsOldAsItsFirstAttempt() {
    Duration maxAge = Duration.ofSeconds(60);
    AtomicLong aheadNanos = new AtomicLong();
    server.onReserve =
        count -> {
          if (aheadNanos.compareAndSet(0, maxAge.toNanos())) {
            throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "");
          }
          return List.of(ScriptedServer.run(server.nextId.getAndAdd(count), count, 1));
        };
    IdClientBuilder builder = patient().timeout(Duration.ofHours(1)).attemptTimeout(Duration.ofMinutes(10));
    IdClient client = connect(builder.clock(hasty(aheadNanos)), server);
    PrefetchBuffer buffer = client.prefetch(PrefetchOptions.DEFAULTS.withMaxAge(maxAge).withCounts(32, 32));
    assertEquals(33, buffer.nextId());
    assertEquals(1, buffer.stats().refillFailures());
    assertEquals(1, buffer.stats().refills());
  }

  /** The clock of this machine, so far ahead. */
  private static ClientClock hasty(AtomicLong aheadNanos) {
    return new ClientClock() {
      @Override
      public long nanos() {
        return ClientClock.system().nanos() + aheadNanos.get();
      }

      @Override
      public long nowMs() {
        return ClientClock.system().nowMs();
      }

      @Override
      public Timer after(long delayNanos, Runnable task) {
        return ClientClock.system().after(delayNanos, task);
      }
    };
  }

  @Test
  void aThousandThreadsShareAClient() throws Exception {
    IdClient client = connect();
    PrefetchBuffer buffer = client.prefetch();
    ConcurrentLinkedQueue<Long> ids = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      threads.add(
          new Thread(
              () -> {
                ids.add(client.nextId());
                for (int j = 0; j < 100; j++) ids.add(buffer.nextId());
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) thread.join();
    assertEquals(101_000, ids.size());
    assertEquals(101_000, ids.stream().distinct().count());
  }

  @Test
  void aReservationIsTheBuffersAndNoCallers() throws Exception {
    CompletableFuture<Void> held = new CompletableFuture<>();
    server.onReserve =
        count -> {
          held.join();
          return List.of(ScriptedServer.run(server.nextId.getAndAdd(count), count, 1));
        };
    PrefetchBuffer buffer = connect().prefetch(PrefetchOptions.DEFAULTS.withMaxAge(Duration.ofSeconds(60)));
    Thread caller = new Thread(() -> assertThrows(SnowlaneException.class, buffer::nextId));
    caller.start();
    until(() -> server.calls.get() == 1);
    caller.interrupt();
    caller.join();
    held.complete(null);
    assertEquals(1, buffer.nextId());
    assertEquals(1, server.calls.get());
  }

  @Test
  void theLayoutIsAskedForOnce() {
    server.info = custom().build();
    IdClient client = connect();
    long id = 5L << 22 | 6 << 12 | 7;
    for (ParsedId parsed : List.of(client.parse(id), client.parse("" + id))) {
      assertEquals(5, parsed.ticks());
      assertEquals(OptionalLong.empty(), parsed.datacenterId());
      assertEquals(OptionalLong.of(6), parsed.workerId());
      assertEquals(OptionalLong.of(7), parsed.sequence());
    }
    String uuid = client.format(id, TextFormat.of(TextForm.UUID));
    assertEquals(id, client.parse(uuid).id());
    SnowlaneException foreign =
        expect(ErrorReason.MALFORMED_TEXT, () -> client.parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    assertEquals(Map.of("form", "uuid", "reason", "foreign"), foreign.metadata());
    assertEquals(1, server.infoCalls.get());
    assertEquals(Layout.preset("baidu"), connect(patient().layout(Layout.preset("baidu")), server).layout());
    assertEquals(1, server.infoCalls.get());
  }

  @Test
  void aServerThatDoesNotSayItsLayoutIsNoneOfOurs() {
    expect(ErrorReason.INVALID_RESPONSE, connect()::layout);
    server.info =
        GetInfoResponse.newBuilder()
            .setLayout(
                dev.snowlane.v1.Layout.newBuilder()
                    .setEpochTime(Timestamp.newBuilder().setSeconds(Long.MAX_VALUE))
                    .setTick(com.google.protobuf.Duration.newBuilder().setNanos(1_000_000)))
            .build();
    expect(ErrorReason.INVALID_RESPONSE, connect()::layout);
  }

  private static dev.snowlane.v1.LayoutField field(LayoutFieldKind kind, int bits) {
    return dev.snowlane.v1.LayoutField.newBuilder().setKind(kind).setBits(bits).build();
  }

  @Test
  void infoTellsWhatAServerIs() {
    server.deployment = 0x1f00a3c2;
    server.info =
        custom()
            .setWorkerId(7)
            .setVersion("1.2.3")
            .setRollbackPolicy(RollbackPolicy.ROLLBACK_POLICY_REUSE)
            .setOrdering(Ordering.ORDERING_UNORDERED_WITHIN_REUSE_SPAN)
            .setExhaustionTime(Timestamp.newBuilder().setSeconds(4_000_000_000L))
            .setLimits(Limits.newBuilder().setReserveCountMax(9).setBatchCountMax(5_000_000_000L))
            .build();
    ServerInfo info = connect().info();
    assertEquals("1.2.3 custom 7", info.version() + " " + info.layout().name() + " " + info.workerId());
    assertEquals("reuse unordered-within-reuse-span", info.rollbackPolicy() + " " + info.ordering());
    assertEquals(Instant.ofEpochSecond(4_000_000_000L), info.exhaustionTime());
    assertEquals(9, info.reserveCountMax());
    assertEquals(5_000_000_000L, info.batchCountMax());
    assertTrue(info.deploymentFingerprint().startsWith("1f00a3c2"));
  }

  /** A server's answer with a layout of its own. */
  private static GetInfoResponse.Builder custom() {
    return GetInfoResponse.newBuilder()
        .setLayout(
            dev.snowlane.v1.Layout.newBuilder()
                .setName("custom")
                .setEpochTime(Timestamp.newBuilder().setSeconds(1_600_000_000))
                .setTick(com.google.protobuf.Duration.newBuilder().setNanos(1_000_000))
                .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_TIMESTAMP, 41))
                .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_WORKER, 10))
                .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_SEQUENCE, 12)));
  }
}
