package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(180)
class IdClientErrorsTest extends ScriptedServerTest {

  @Test
  void everyReasonOfAServerComesOutAsItsTypedError() {
    IdClient client = connect(patient().retryMax(0), server);
    AtomicInteger calls = new AtomicInteger();
    List<ErrorReason> reasons =
        Arrays.stream(ErrorReason.values()).filter(reason -> reason.compareTo(ErrorReason.UNREACHABLE) < 0).toList();
    assertEquals(31, reasons.size());
    server.onNextId =
        () -> {
          // After each fault an ID, so that the client takes the endpoint for up again.
          int call = calls.getAndIncrement();
          if (call % 2 == 1) return 7;
          ErrorReason reason = reasons.get(call / 2);
          Map<String, String> metadata = Map.of("key_ms", reason.name());
          Status.Code code = Status.Code.valueOf(reason.code().name());
          throw ScriptedServer.fault(code, reason.name(), Duration.ofMillis(20), metadata);
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
      assertEquals(StatusCode.FAILED_PRECONDITION, error.code());
    }
    for (Status.Code code : List.of(Status.Code.UNIMPLEMENTED, Status.Code.INTERNAL)) {
      server.onNextId =
          () -> {
            throw ScriptedServer.fault(code, "");
          };
      assertEquals(code.name(), expect(ErrorReason.RPC_FAILED, client::nextId).code().name());
    }
  }

  @Test
  void aConnectionThatIsLostWhileACallIsWrittenIsUnreachable() {
    for (Status status : List.of(Status.UNKNOWN, Status.INTERNAL)) {
      StatusRuntimeException lost = status.withCause(new ClosedChannelException()).asRuntimeException();
      SnowlaneException error = RpcErrors.of(lost, server.url());
      assertEquals(ErrorReason.UNREACHABLE, error.reason());
      assertEquals(StatusCode.UNAVAILABLE, error.code());
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
    // Of the delay 1 s counts, and half as much again.
    IdClientBuilder builder = IdClient.builder().timeout(Duration.ofMillis(1_400));
    IdClient client = connect(builder.random(() -> 0.99), server);
    for (int i = 0; i < 2; i++) expect(ErrorReason.STORE_UNAVAILABLE, client::nextId);
    assertEquals(1, server.calls.get());
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
}
