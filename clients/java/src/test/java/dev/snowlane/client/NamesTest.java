package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class NamesTest {

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(31);

  private final List<Server> servers = new ArrayList<>();
  private final List<ScriptedServer> services = new ArrayList<>();
  private final Set<String> authorities = new ConcurrentSkipListSet<>();

  /** What the name resolves to; none: it is unknown. */
  private volatile List<String> found = List.of();

  private final AtomicInteger looks = new AtomicInteger();

  @AfterEach
  void stop() {
    servers.forEach(Server::shutdownNow);
    services.forEach(ScriptedServer::close);
  }

  private InetAddress[] lookUp(String host) throws UnknownHostException {
    looks.incrementAndGet();
    if (found.isEmpty()) throw new UnknownHostException(host);
    List<InetAddress> addresses = new ArrayList<>();
    for (String text : found) addresses.add(InetAddress.getByName(text));
    return addresses.toArray(InetAddress[]::new);
  }

  /** Starts a server at each of several addresses of this machine, all at the one port that is returned. */
  private int startAt(String... addresses) {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
      try {
        for (String address : addresses) start(address, port);
        return port;
      } catch (IOException taken) {
        stop();
        servers.clear();
        services.clear();
      }
    }
  }

  private void start(String address, int port) throws IOException {
    ScriptedServer service = new ScriptedServer();
    services.add(service);
    ServerInterceptor noting =
        new ServerInterceptor() {
          @Override
          public <Q, A> ServerCall.Listener<Q> interceptCall(
              ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            authorities.add(call.getAuthority());
            return next.startCall(call, headers);
          }
        };
    InetSocketAddress place = new InetSocketAddress(address, port);
    servers.add(NettyServerBuilder.forAddress(place).addService(service).intercept(noting).build().start());
  }

  private IdClientBuilder byName(int port) {
    return IdClient.builder()
        .endpoints("http://ids.test:" + port)
        .timeout(Duration.ofSeconds(60))
        .attemptTimeout(Duration.ofSeconds(30))
        .lookUp(this::lookUp);
  }

  /** Its connections are gone as well then: a call that came in between would be cancelled by the server. */
  private void stop(int index) throws InterruptedException {
    assertTrue(servers.get(index).shutdownNow().awaitTermination(1, TimeUnit.MINUTES));
  }

  private int used() {
    return services.get(0).calls.get() > 0 ? 0 : 1;
  }

  @Test
  void aNameWithSeveralAddressesIsAsManyEndpoints() throws InterruptedException {
    int port = startAt("127.0.0.2", "127.0.0.3");
    found = List.of("127.0.0.2", "127.0.0.3");
    Set<String> attempted = new ConcurrentSkipListSet<>();
    ClientObserver observer =
        new ClientObserver() {
          @Override
          public void onAttempt(AttemptEvent event) {
            attempted.add(event.endpoint());
          }
        };
    try (IdClient client = byName(port).observer(observer).build()) {
      client.nextId();
      int used = used();
      stop(used);
      client.nextId();
      assertTrue(services.get(1 - used).calls.get() > 0);
      String name = "http://ids.test:" + port;
      assertEquals(Set.of(name + " [127.0.0.2]", name + " [127.0.0.3]"), attempted);
      assertEquals(Set.of("ids.test:" + port), authorities);
      stop(1 - used);
      SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
      assertTrue(error.toString().contains("(" + name + " [127.0.0."), error.toString());
    }
  }

  @Test
  void theAddressesOfANameAreAskedOfWhichDeploymentTheyAre() {
    int port = startAt("127.0.0.2", "127.0.0.3");
    found = List.of("127.0.0.2", "127.0.0.3");
    services.get(0).deployment = 1;
    services.get(1).deployment = 2;
    try (IdClient client = byName(port).build()) {
      SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
      assertEquals(ErrorReason.DEPLOYMENT_MISMATCH, error.reason());
    }
  }

  @Test
  void aNameWithOneAddressOrNoneAndOneOfEachFamilyIsLeftToTheLibrary() {
    List<List<String>> all =
        List.of(List.of("127.0.0.1"), List.of(), List.of("::1", "127.0.0.1"), List.of("127.0.0.1", "127.0.0.1"));
    for (List<String> each : all) {
      found = each;
      looks.set(0);
      try (IdClient client = byName(1).timeout(Duration.ofSeconds(2)).build()) {
        SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
        assertEquals("http://ids.test:1", error.endpoint().orElseThrow());
        assertTrue(looks.get() > 0);
      }
    }
  }

  @Test
  void anAddressIsNotLookedUp() {
    startAt("127.0.0.1");
    int port = servers.get(0).getPort();
    try (IdClient client = IdClient.builder().endpoints("http://127.0.0.1:" + port).lookUp(this::lookUp).build()) {
      client.nextId();
      assertEquals(0, looks.get());
    }
  }

  /** For the tests of looks, which need no server. */
  private final FakeClock clock = new FakeClock();

  private final Endpoints endpoints =
      new Endpoints(List.of(EndpointAddress.read("http://ids.test:1")), clock, () -> 0);

  private final Names names = new Names(endpoints, clock, () -> 0, this::lookUp);

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) Thread.onSpinWait();
  }

  private Set<String> urls() {
    Set<String> urls = new HashSet<>();
    endpoints.all().forEach(endpoint -> urls.add(endpoint.url().replace("http://ids.test:1 ", "")));
    return urls;
  }

  /** Looks again, and waits until the look has ended. */
  private void lookAgain(Duration after) {
    int before = looks.get();
    clock.advance(after);
    names.look();
    until(() -> looks.get() > before && names.isIdle());
  }

  @Test
  void anAddressThatThreeLooksDidNotFindIsLeftUnlessItIsInUseAndAnswers() {
    found = List.of("127.0.0.2", "127.0.0.3");
    names.look();
    assertEquals(Set.of("[127.0.0.2]", "[127.0.0.3]"), urls());
    Endpoint used = endpoints.choose().endpoint();
    endpoints.noteSuccess(used);
    String usedUrl = used.url().replace("http://ids.test:1 ", "");
    found = List.of("127.0.0.4");
    lookAgain(LOOK_AGAIN);
    lookAgain(LOOK_AGAIN);
    assertEquals(Set.of("[127.0.0.2]", "[127.0.0.3]", "[127.0.0.4]"), urls());
    lookAgain(LOOK_AGAIN);
    assertEquals(Set.of(usedUrl, "[127.0.0.4]"), urls());
    endpoints.noteFailure(used, new SnowlaneException(ErrorReason.UNREACHABLE, "down"));
    lookAgain(LOOK_AGAIN);
    assertEquals(Set.of("[127.0.0.4]"), urls());
  }

  @Test
  void aNameIsLookedUpAgainAfter30sAndAfter5sWhereOneOfItsAddressesIsDown() {
    found = List.of("127.0.0.2", "127.0.0.3");
    names.look();
    clock.advance(Duration.ofSeconds(29));
    names.look();
    assertEquals(1, looks.get());
    lookAgain(Duration.ofSeconds(1));
    Endpoint down = endpoints.choose().endpoint();
    SnowlaneException later = new SnowlaneException(ErrorReason.UNREACHABLE, "down");
    for (int i = 0; i < 2; i++) endpoints.noteFailure(down, later);
    clock.advance(Duration.ofSeconds(4));
    endpoints.noteFailure(down, later.withRetryAfter(Duration.ofSeconds(9)));
    names.look();
    assertEquals(2, looks.get());
    clock.advance(Duration.ofMillis(500));
    endpoints.noteFailure(down, later.withRetryAfter(Duration.ofSeconds(9)));
    lookAgain(Duration.ofMillis(500));
    assertEquals(3, looks.get());
  }

  @Test
  void whereAllOfANameAreDownTheAddressesOfTheOtherFamilyAreTakenToo() {
    found = List.of("127.0.0.2", "127.0.0.3", "::1");
    names.look();
    assertEquals(Set.of("[127.0.0.2]", "[127.0.0.3]"), urls());
    clock.advance(LOOK_AGAIN);
    SnowlaneException down =
        new SnowlaneException(ErrorReason.UNREACHABLE, "down").withRetryAfter(Duration.ofSeconds(1));
    endpoints.all().forEach(endpoint -> endpoints.noteFailure(endpoint, down));
    lookAgain(Duration.ZERO);
    assertEquals(Set.of("[127.0.0.2]", "[127.0.0.3]", "[0:0:0:0:0:0:0:1]"), urls());
  }
}
