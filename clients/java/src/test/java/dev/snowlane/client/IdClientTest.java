package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Timestamp;
import dev.snowlane.client.testing.FakeClock;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.LayoutFieldKind;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(180)
class IdClientTest {

  private static final long BIG = (1L << 62) + 1;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final ScriptedServer server = opened(new ScriptedServer());

  @AfterEach
  void close() throws Exception {
    // The clients first: they were opened last.
    for (int i = opened.size() - 1; i >= 0; i--) opened.get(i).close();
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.add(resource);
    return resource;
  }

  /** Patient, so that only the tests of time are about time. */
  private static IdClientBuilder patient() {
    return IdClient.builder().timeout(Duration.ofSeconds(60)).attemptTimeout(Duration.ofSeconds(30));
  }

  private IdClient connect(IdClientBuilder builder, ScriptedServer... servers) {
    String[] urls = Arrays.stream(servers).map(ScriptedServer::url).toArray(String[]::new);
    return opened(builder.endpoints(urls).build());
  }

  private IdClient connect() {
    return connect(patient(), server);
  }

  private static SnowlaneException expect(ErrorReason reason, Executable call) {
    SnowlaneException error = assertThrows(SnowlaneException.class, call);
    assertEquals(reason, error.reason(), error::toString);
    return error;
  }

  private static void until(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) Thread.sleep(1);
  }

  private static long[] collect(IdClient client, long count, StreamOptions options) {
    List<long[]> chunks = new ArrayList<>();
    try (IdStream stream = client.stream(count, options)) {
      for (long[] ids : stream) chunks.add(ids);
    }
    return chunks.stream().flatMapToLong(Arrays::stream).toArray();
  }

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
  void everyReasonOfAServerComesOutAsItsTypedError() {
    IdClient client = connect(patient().retryMax(0), server);
    AtomicInteger calls = new AtomicInteger();
    List<ErrorReason> reasons =
        Arrays.stream(ErrorReason.values()).filter(reason -> reason.compareTo(ErrorReason.UNREACHABLE) < 0).toList();
    assertEquals(30, reasons.size());
    server.onNextId =
        () -> {
          // After each fault an ID, so that the client takes the endpoint for up again.
          int call = calls.getAndIncrement();
          if (call % 2 == 1) return 7;
          ErrorReason reason = reasons.get(call / 2);
          Map<String, String> metadata = Map.of("key_ms", reason.name());
          throw ScriptedServer.fault(reason.code(), reason.name(), Duration.ofMillis(20), metadata);
        };
    for (ErrorReason reason : reasons) {
      SnowlaneException error = expect(reason, client::nextId);
      assertEquals(reason.code(), error.code());
      assertEquals(Map.of("key_ms", reason.name()), error.metadata());
      assertEquals(Optional.of(Duration.ofMillis(20)), error.retryAfter());
      assertEquals(Optional.of(server.url()), error.endpoint());
      assertTrue(error.getCause() instanceof StatusRuntimeException);
      assertEquals(7, client.nextId());
    }
  }

  @Test
  void whatIsNoReasonOfOursIsRpcFailed() {
    IdClient client = connect(patient().retryMax(0), server);
    for (String reason : List.of("NOT_YET_KNOWN", "SCRIPT_ENDED")) {
      server.onNextId =
          () -> {
            throw ScriptedServer.fault(Status.Code.FAILED_PRECONDITION, reason);
          };
      SnowlaneException error = expect(ErrorReason.RPC_FAILED, client::nextId);
      assertEquals(reason, error.metadata().get("reason"));
      assertEquals(Status.Code.FAILED_PRECONDITION, error.code());
    }
    for (Status.Code code : List.of(Status.Code.UNIMPLEMENTED, Status.Code.INTERNAL, Status.Code.CANCELLED)) {
      server.onNextId =
          () -> {
            throw ScriptedServer.fault(code, "");
          };
      assertEquals(code, expect(ErrorReason.RPC_FAILED, client::nextId).code());
    }
  }

  @Test
  void aConnectionLostWhileACallIsWrittenWasUnknown() {
    for (Status status : List.of(Status.UNKNOWN, Status.INTERNAL)) {
      StatusRuntimeException lost = status.withCause(new ClosedChannelException()).asRuntimeException();
      SnowlaneException error = RpcErrors.of(lost, server.url());
      assertEquals(ErrorReason.UNREACHABLE, error.reason());
      assertEquals(Status.Code.UNAVAILABLE, error.code());
      assertEquals(ErrorReason.RPC_FAILED, RpcErrors.of(status.asRuntimeException(), server.url()).reason());
    }
  }

  @Test
  void aRetryDelayOfAgesDoesNotOverflow() {
    server.onNextId =
        () -> {
          Duration ages = Duration.ofSeconds(315_576_000_000L);
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE", ages, Map.of());
        };
    IdClient client = connect();
    for (int i = 0; i < 2; i++) expect(ErrorReason.STORE_UNAVAILABLE, client::nextId);
    assertEquals(1, server.calls.get());
  }

  @Test
  void nobodyThereIsUnreachable() {
    server.kill();
    expect(ErrorReason.UNREACHABLE, connect()::nextId);
  }

  @Test
  void theDeadlineOfACallIsKept() {
    server.onNextId =
        () -> {
          ScriptedServer.hang();
          return 7;
        };
    IdClient client = connect(IdClient.builder().timeout(Duration.ofMillis(300)), server);
    expect(ErrorReason.DEADLINE_EXCEEDED, client::nextId);
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> connect().nextId(Duration.ofMillis(100)));
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> connect().nextId(Duration.ZERO));
  }

  @Test
  void anInterruptEndsACallAndAWait() throws Exception {
    IdClient client = connect();
    server.onNextId =
        () -> {
          ScriptedServer.hang();
          return 7;
        };
    expectInterrupted(client, () -> server.calls.get() == 1);
    server.onNextId =
        () -> {
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "SHUTTING_DOWN", Duration.ofSeconds(20), Map.of());
        };
    expectInterrupted(client, () -> server.calls.get() == 2);
  }

  private static void expectInterrupted(IdClient client, BooleanSupplier ready) throws InterruptedException {
    CompletableFuture<ErrorReason> reason = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
              reason.complete(Thread.currentThread().isInterrupted() ? error.reason() : null);
            });
    caller.start();
    until(ready);
    caller.interrupt();
    assertEquals(ErrorReason.CANCELLED, reason.join());
  }

  @Test
  void theCancellationOfTheContextEndsACall() throws Exception {
    IdClient client = connect();
    server.onNextId =
        () -> {
          ScriptedServer.hang();
          return 7;
        };
    Context.CancellableContext context = Context.current().withCancellation();
    CompletableFuture<ErrorReason> reason = new CompletableFuture<>();
    Runnable call = () -> reason.complete(assertThrows(SnowlaneException.class, client::nextId).reason());
    new Thread(() -> context.run(call)).start();
    until(() -> server.calls.get() == 1);
    context.cancel(null);
    assertEquals(ErrorReason.CANCELLED, reason.join());
  }

  @Test
  void closingEndsTheCallsUnderWay() throws Exception {
    server.onNextId =
        () -> {
          ScriptedServer.hang();
          return 7;
        };
    server.onBatch = (request, chunks) -> ScriptedServer.hang();
    IdClient client = connect();
    PrefetchBuffer buffer = client.prefetch();
    ConcurrentLinkedQueue<ErrorReason> reasons = new ConcurrentLinkedQueue<>();
    List<Thread> callers = new ArrayList<>();
    for (Executable call : List.<Executable>of(client::nextId, () -> collect(client, 10, StreamOptions.DEFAULTS))) {
      callers.add(new Thread(() -> reasons.add(assertThrows(SnowlaneException.class, call).reason())));
    }
    callers.forEach(Thread::start);
    until(() -> server.calls.get() == 2);
    client.close();
    client.close();
    for (Thread caller : callers) caller.join();
    assertEquals(List.of(ErrorReason.CLIENT_CLOSED, ErrorReason.CLIENT_CLOSED), List.copyOf(reasons));
    expect(ErrorReason.CLIENT_CLOSED, client::nextId);
    expect(ErrorReason.CLIENT_CLOSED, buffer::nextId);
    expect(ErrorReason.CLIENT_CLOSED, client::prefetch);
  }

  @Test
  void closingEndsAWaitForTheNextAttempt() throws Exception {
    server.onNextId =
        () -> {
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "SHUTTING_DOWN", Duration.ofSeconds(20), Map.of());
        };
    IdClient client = connect();
    CompletableFuture<ErrorReason> reason = new CompletableFuture<>();
    new Thread(() -> reason.complete(assertThrows(SnowlaneException.class, client::nextId).reason())).start();
    until(() -> server.calls.get() == 1);
    client.close();
    assertEquals(ErrorReason.CLIENT_CLOSED, reason.join());
  }

  @Test
  void threeRetriesAndNoMore() {
    AtomicInteger failures = new AtomicInteger(3);
    server.onNextId =
        () -> {
          if (failures.getAndDecrement() > 0) throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "");
          return 7;
        };
    ConcurrentLinkedQueue<ClientObserver.AttemptEvent> attempts = new ConcurrentLinkedQueue<>();
    ClientObserver observer =
        new ClientObserver() {
          @Override
          public void onAttempt(AttemptEvent event) {
            attempts.add(event);
            throw new IllegalStateException("an observer's fault is its own");
          }
        };
    IdClient client = connect(patient().observer(observer), server);
    assertEquals(7, client.nextId());
    assertEquals(List.of(1, 2, 3, 4), attempts.stream().map(ClientObserver.AttemptEvent::attempt).toList());
    Optional<ErrorReason> unreachable = Optional.of(ErrorReason.UNREACHABLE);
    assertEquals(
        List.of(unreachable, unreachable, unreachable, Optional.empty()),
        attempts.stream().map(ClientObserver.AttemptEvent::reason).toList());
    assertEquals("NextId", attempts.element().method());
    assertEquals(server.url(), attempts.element().endpoint());
    server.onNextId =
        () -> {
          throw ScriptedServer.fault(Status.Code.UNAVAILABLE, "WINDOW_EXPIRED");
        };
    expect(ErrorReason.WINDOW_EXPIRED, client::nextId);
    assertEquals(8, server.calls.get());
  }

  @Test
  void aServerThatIsDownIsLeftForAnother() {
    ScriptedServer second = opened(new ScriptedServer());
    IdClient client = connect(patient(), server, second);
    client.nextId();
    (server.calls.get() > 0 ? server : second).kill();
    assertEquals(10, client.nextIds(10).length);
    assertTrue(server.calls.get() > 0 && second.calls.get() > 0);
  }

  @Test
  void aServerThatHangsIsLeftForAnother() {
    ScriptedServer second = opened(new ScriptedServer());
    server.onNextId =
        () -> {
          ScriptedServer.hang();
          return 7;
        };
    IdClientBuilder builder = patient().attemptTimeout(Duration.ofSeconds(2));
    // Chooses the second of two.
    builder.random(() -> 0.5);
    assertTrue(connect(builder, second, server).nextId() < 7);
    assertTrue(second.calls.get() > 0);
  }

  @Test
  void aQuotaIsNotEvaded() {
    ScriptedServer second = opened(new ScriptedServer());
    AtomicInteger failures = new AtomicInteger(1);
    for (ScriptedServer each : List.of(server, second)) {
      each.onNextId =
          () -> {
            if (failures.getAndDecrement() <= 0) return 7;
            Duration wait = Duration.ofMillis(40);
            throw ScriptedServer.fault(Status.Code.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", wait, Map.of());
          };
    }
    long startedNanos = System.nanoTime();
    assertEquals(7, connect(patient(), server, second).nextId());
    assertTrue(System.nanoTime() - startedNanos >= 40_000_000);
    assertEquals(0, server.calls.get() * second.calls.get());
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
  void theLayoutIsAskedForOnce() {
    server.info =
        GetInfoResponse.newBuilder()
            .setLayout(
                dev.snowlane.v1.Layout.newBuilder()
                    .setName("custom")
                    .setEpochTime(Timestamp.newBuilder().setSeconds(1_600_000_000))
                    .setTick(com.google.protobuf.Duration.newBuilder().setNanos(1_000_000))
                    .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_TIMESTAMP, 41))
                    .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_WORKER, 10))
                    .addFields(field(LayoutFieldKind.LAYOUT_FIELD_KIND_SEQUENCE, 12)))
            .build();
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
    assertEquals(1, server.calls.get());
    assertEquals(Layout.preset("baidu"), connect(patient().layout(Layout.preset("baidu")), server).layout());
    assertEquals(1, server.calls.get());
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
}
