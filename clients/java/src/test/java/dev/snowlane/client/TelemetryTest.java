package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.ClientObserver.State;
import dev.snowlane.client.ClientObserver.StateEvent;
import dev.snowlane.client.testing.FakeClock;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.ForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hooks, states, the log, and what a service asks for before its first request. */
@Timeout(180)
class TelemetryTest extends ScriptedServerTest {

  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> TRACE = Context.key("trace");
  private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  // What System.Logger writes to, where no other is installed.
  private final Logger log = Logger.getLogger("dev.snowlane.client");
  private final ConcurrentLinkedQueue<LogRecord> lines = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<StateEvent> states = new ConcurrentLinkedQueue<>();

  private final ClientObserver observer =
      new ClientObserver() {
        @Override
        public void onState(StateEvent event) {
          states.add(event);
        }
      };

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          lines.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    log.addHandler(handler);
    log.setUseParentHandlers(false);
  }

  @AfterEach
  void leave() {
    log.removeHandler(handler);
    log.setUseParentHandlers(true);
  }

  /** Does what OpenTelemetry's interceptor does: writes the trace of the context at hand into the headers. */
  private static final ClientInterceptor TRACING =
      new ClientInterceptor() {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
          return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
            @Override
            public void start(Listener<A> listener, Metadata headers) {
              if (TRACE.get() != null) headers.put(TRACEPARENT, TRACE.get());
              super.start(listener, headers);
            }
          };
        }
      };

  private String header(String name) {
    return server.headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
  }

  @Test
  void interceptorsOfTheCallerPassOnItsTraceAndTheUserAgentNamesTheClient() throws Exception {
    IdClient client = connect(patient().interceptors(TRACING).channel(builder -> builder.userAgent("other")), server);
    Context traced = Context.current().withValue(TRACE, PARENT);
    traced.call(client::nextId);
    assertEquals(PARENT, header("traceparent"));
    assertTrue(header("user-agent").startsWith("snowlane-java/" + ClientVersion.VERSION), header("user-agent"));
    traced.call(() -> client.reserveAsync(1)).join();
    assertEquals(PARENT, header("traceparent"));
    // A refill belongs to no caller.
    PrefetchBuffer buffer = client.prefetch();
    traced.call(buffer::nextId);
    assertEquals(null, header("traceparent"));
  }

  @Test
  void whenRefillsBeginToFailAndWhenTheyWorkAgainIsToldOnceAndLogged() {
    FakeClock clock = new FakeClock();
    StubSource source = new StubSource(0, 1000);
    SnowlaneException down = new SnowlaneException(ErrorReason.STORE_UNAVAILABLE, "down");
    for (int i = 0; i < 5; i++) source.script.add(count -> CompletableFuture.failedFuture(down));
    try (PrefetchBuffer buffer = new PrefetchBuffer(source, PrefetchOptions.DEFAULTS, clock, observer)) {
      CompletableFuture<Long> id = buffer.nextIdAsync(Duration.ofHours(1));
      assertEquals(1, buffer.stats().refillFailures());
      assertTrue(states.isEmpty(), states::toString);
      clock.advance(Duration.ofSeconds(30));
      id.join();
      assertEquals(5, buffer.stats().refillFailures());
    }
    assertEquals(List.of(State.FAILING, State.WORKING), states.stream().map(StateEvent::state).toList());
    assertEquals(Optional.of(ErrorReason.STORE_UNAVAILABLE), states.peek().reason());
    assertEquals(List.of(Level.WARNING, Level.INFO), lines.stream().map(LogRecord::getLevel).toList());
    assertEquals("Refills fail: STORE_UNAVAILABLE", lines.peek().getMessage());
  }

  @Test
  void theLogGetsALineOfOneKindAMinute() {
    FakeClock clock = new FakeClock();
    States told = new States(clock, observer);
    long[] pauses = {0, 59, 1, 1};
    int[] expected = {1, 1, 2, 2};
    for (int i = 0; i < pauses.length; i++) {
      clock.advance(Duration.ofSeconds(pauses[i]));
      told.tell(State.FAILING, Optional.empty(), Optional.empty(), Duration.ZERO);
      assertEquals(expected[i], lines.size());
    }
    assertEquals(4, states.size());
  }

  @Test
  void aClientTellsThatItMoved() {
    try (ScriptedServer other = new ScriptedServer()) {
      IdClient client = connect(patient().observer(observer), server, other);
      client.nextId();
      ScriptedServer used = server.calls.get() > 0 ? server : other;
      ScriptedServer left = used == server ? other : server;
      used.kill();
      client.nextId();
      StateEvent moved = states.remove();
      assertEquals(State.MOVED, moved.state());
      assertEquals(Optional.of(left.url()), moved.endpoint());
      assertTrue(states.isEmpty());
    }
  }

  @Test
  void aClientTellsThatItReplacedAConnectionAndOfAnotherDeployment() {
    server.deployment = 1;
    IdClient client = connect(patient().attemptTimeout(Duration.ofSeconds(1)).observer(observer), server);
    client.nextId();
    server.swallow();
    client.nextId();
    assertEquals(State.REPLACED, states.remove().state());
    server.deployment = 2;
    expect(ErrorReason.DEPLOYMENT_MISMATCH, client::nextId);
    assertEquals(State.MISMATCH, states.remove().state());
    assertTrue(lines.stream().anyMatch(line -> line.getLevel() == Level.SEVERE));
  }

  @Test
  void readyConnectsAndReservesAndTakesNoId() {
    IdClient client = connect(patient(), server);
    client.ready();
    assertEquals(0, server.calls.get());
    assertEquals(1, server.infoCalls.get());
    PrefetchBuffer buffer = client.prefetch();
    buffer.ready();
    assertEquals(0, buffer.stats().handedOut());
    assertTrue(buffer.stats().stock() > 0);
    assertTrue(buffer.nextIdNow() > 0);
    buffer.close();
    expect(ErrorReason.CLIENT_CLOSED, buffer::ready);
  }

  @Test
  void aServerThatAnsweredIsToldFromOneThatDidNot() {
    server.onNextId =
        () -> {
          throw ScriptedServer.fault(io.grpc.Status.Code.UNAVAILABLE, "");
        };
    IdClient client = connect(patient().retryMax(0), server);
    SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
    assertTrue(error.toString().startsWith("UNREACHABLE: The server cannot answer now: scripted"), error::toString);
    assertTrue(error.passes());
  }

  private static Object copied(Object value) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(value);
    return new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
  }

  @Test
  void anErrorCanBeWrittenAndReadWithAllThatItSays() throws Exception {
    server.onNextId =
        () -> {
          throw ScriptedServer.fault(io.grpc.Status.Code.UNAVAILABLE, "STORE_UNAVAILABLE", Duration.ofSeconds(1),
              java.util.Map.of("store", "x"));
        };
    IdClient client = connect(patient().retryMax(0), server);
    SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
    SnowlaneException read = (SnowlaneException) copied(error);
    assertEquals(error.toString(), read.toString());
    assertEquals(error.metadata(), read.metadata());
    assertEquals(error.retryAfter(), read.retryAfter());
    assertEquals(error.code(), read.code());
    assertTrue(read.getCause().getMessage().contains("scripted"), () -> "" + read.getCause());
    assertEquals(error.getStackTrace().length, read.getStackTrace().length);
    SnowlaneException again = (SnowlaneException) copied(error.rethrown());
    assertFalse(again.getCause() == null);
  }
}
