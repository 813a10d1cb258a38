package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.ClientObserver.AttemptEvent;
import dev.snowlane.client.testing.FakeClock;
import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.NextIdRequest;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Refills that are sent a second time. */
@Timeout(180)
class HedgesTest extends ScriptedServerTest {

  private static final PrefetchOptions MINUTE = PrefetchOptions.DEFAULTS.withMaxAge(Duration.ofSeconds(60));

  private static IdClientBuilder builder() {
    return patient().attemptTimeout(Duration.ofSeconds(40));
  }

  /** Lets a server's reservations wait; returns their count. */
  private static AtomicInteger hold(ScriptedServer held) {
    AtomicInteger count = new AtomicInteger();
    held.onReserve =
        asked -> {
          count.incrementAndGet();
          ScriptedServer.hang();
          return List.of();
        };
    return count;
  }

  @Test
  void aRefillWithoutAnAnswerIsSentToAnotherServerAndTwoInARowMoveTheClient() {
    ScriptedServer second = opened(new ScriptedServer());
    IdClient client = connect(builder(), server, second);
    client.nextId();
    boolean isFirst = server.calls.get() > 0;
    AtomicInteger held = hold(isFirst ? server : second);
    ScriptedServer well = isFirst ? second : server;
    for (int i = 0; i < 3; i++) assertTrue(client.prefetch(MINUTE).nextId() > 0);
    assertEquals(2, held.get());
    assertEquals(3, well.calls.get());
  }

  @Test
  void aRefillWithoutAnAnswerIsSentOverASecondConnectionWhichIsKept() {
    IdClient client = connect(builder(), server);
    client.nextId();
    server.swallow();
    assertTrue(client.prefetch(MINUTE).nextId() > 0);
    // The same connection: the one before answers nothing.
    assertTrue(client.nextId() > 0);
    assertEquals(2, server.connections());
  }

  @Test
  void aConnectionThatWasLostIsOneThatMustBeOpenedAgainAndHasNoSecondBesideIt() throws Exception {
    Endpoint endpoint = new Endpoint(EndpointAddress.read(server.url()), 0);
    Connections connections = connections(new FakeClock());
    for (int i = 0; i < 2; i++) {
      Connection used = connections.begin(endpoint);
      IdServiceGrpc.newBlockingStub(used.channel()).nextId(NextIdRequest.getDefaultInstance());
      connections.end(endpoint, used, null, false);
    }
    assertTrue(connections.maySecond(endpoint));
    server.kill();
    until(() -> !connections.maySecond(endpoint));
    assertEquals(Connections.State.MUST_OPEN, connections.state(endpoint));
    connections.close();
  }

  @Test
  void theObserverLearnsOfBothRequestsOfARefillAndWhichOneIsTheHedge() {
    ScriptedServer second = opened(new ScriptedServer());
    List<AttemptEvent> refills = new CopyOnWriteArrayList<>();
    ClientObserver observer =
        new ClientObserver() {
          @Override
          public void onAttempt(AttemptEvent event) {
            if (event.method().equals("ReserveIds")) refills.add(event);
          }
        };
    IdClient client = connect(builder().observer(observer), server, second);
    client.nextId();
    ScriptedServer used = server.calls.get() > 0 ? server : second;
    hold(used);
    assertTrue(client.prefetch(MINUTE).nextId() > 0);
    String other = (used == server ? second : server).url();
    assertEquals(List.of(used.url(), other), refills.stream().map(AttemptEvent::endpoint).limit(2).toList());
    assertEquals(
        List.of(Optional.of(ErrorReason.CANCELLED), Optional.empty()),
        refills.stream().map(AttemptEvent::reason).limit(2).toList());
    assertEquals(List.of(false, true), refills.stream().map(AttemptEvent::isHedge).limit(2).toList());
  }

  @Test
  void noHedgeFollowsAQuotaThatIsUsedUp() {
    FakeClock clock = new FakeClock();
    Endpoints endpoints =
        new Endpoints(
            List.of(EndpointAddress.read("http://a"), EndpointAddress.read("http://b")), clock, () -> 0);
    Connections connections = connections(clock);
    Hedges hedges = new Hedges(clock, endpoints, connections, Duration.ofSeconds(2));
    Hedges.Plan plan = hedges.plan(endpoints.all().get(0));
    assertEquals(endpoints.all().get(1), plan.endpoint());
    assertTrue(hedges.isPermitted(plan));
    hedges.noteQuota();
    clock.advance(Duration.ofMillis(4_999));
    assertFalse(hedges.isPermitted(plan));
    clock.advance(Duration.ofMillis(1));
    assertTrue(hedges.isPermitted(plan));
  }

  @Test
  void theSecondRequestFollowsFourMeanRoundTripsWithinBounds() {
    FakeClock clock = new FakeClock();
    EndpointAddress address = EndpointAddress.read("http://127.0.0.1:1");
    Endpoints endpoints = new Endpoints(List.of(address, EndpointAddress.read("http://127.0.0.1:2")), clock, () -> 0);
    Connections connections = connections(clock);
    Endpoint first = endpoints.all().get(0);
    Endpoint other = endpoints.all().get(1);
    Map<Long, Long> delays = Map.of(0L, 500L, 2L, 100L, 100L, 400L, 900L, 1_000L);
    for (Map.Entry<Long, Long> row : delays.entrySet()) {
      Hedges hedges = new Hedges(clock, endpoints, connections, Duration.ofSeconds(2));
      if (row.getKey() > 0) hedges.noteAnswer(row.getKey() * 1_000_000);
      connections.end(other, connections.begin(other), Status.UNAVAILABLE.asRuntimeException(), false);
      assertEquals(Math.max(500, row.getValue()) * 1_000_000, hedges.plan(first).delayNanos());
      connections.end(other, connections.begin(other), null, false);
      assertEquals(row.getValue() * 1_000_000, hedges.plan(first).delayNanos());
    }
    connections.close();
  }

  private static Connections connections(FakeClock clock) {
    return new Connections(each -> new Connection(each.address, ChannelOptions.DEFAULTS), clock, each -> {});
  }
}
