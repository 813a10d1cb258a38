package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

class EndpointsTest {

  private static final DoubleSupplier RANDOM = () -> ThreadLocalRandom.current().nextDouble();
  private static final SnowlaneException DOWN = new SnowlaneException(ErrorReason.UNREACHABLE, "down");

  private static Endpoints of(FakeClock clock, DoubleSupplier random, String... urls) {
    return new Endpoints(Arrays.stream(urls).map(EndpointAddress::read).toList(), clock, random);
  }

  @Test
  void aClientStaysWithOneEndpointAndMovesByItselfOnlyAfterMinutes() {
    FakeClock clock = new FakeClock();
    Endpoints endpoints = of(clock, RANDOM, "http://a", "http://b", "http://c", "http://d");
    Endpoint first = endpoints.choose().endpoint();
    clock.advance(Duration.ofSeconds(299));
    for (int i = 0; i < 100; i++) {
      assertSame(first, endpoints.choose().endpoint());
      assertEquals(0, endpoints.choose().waitNanos());
    }
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      clock.advance(Duration.ofMinutes(15));
      seen.add(endpoints.choose().endpoint().url());
    }
    assertEquals(4, seen.size());
  }

  @Test
  void clientsThatLoseAServerSpreadOverTheOthersAndOverTime() {
    Map<String, Integer> counts = new HashMap<>();
    Set<Long> waits = new HashSet<>();
    for (int client = 0; client < 1_000; client++) {
      Endpoints endpoints = of(new FakeClock(), RANDOM, "http://a", "http://b", "http://c");
      Endpoint endpoint = endpoints.choose().endpoint();
      if (!endpoint.url().equals("http://a")) continue;
      endpoints.noteFailure(endpoint, DOWN);
      Endpoints.Choice next = endpoints.choose();
      counts.merge(next.endpoint().url(), 1, Integer::sum);
      assertTrue(next.waitNanos() < 20_000_000);
      waits.add(next.waitNanos());
    }
    assertEquals(Set.of("http://b", "http://c"), counts.keySet());
    assertTrue(counts.values().stream().allMatch(count -> count > 50));
    assertTrue(waits.size() > 100);
  }

  @Test
  void whenAllAreDownTheOneThatIsUpAgainFirstIsNextAndNoSoonerThanThat() {
    FakeClock clock = new FakeClock();
    Endpoints endpoints = of(clock, () -> 0, "http://a", "http://b");
    Endpoint a = endpoints.choose().endpoint();
    endpoints.noteFailure(a, DOWN.withRetryAfter(Duration.ofMillis(700)));
    Endpoint b = endpoints.choose().endpoint();
    assertEquals("http://a http://b", a.url() + " " + b.url());
    endpoints.noteFailure(b, DOWN.withRetryAfter(Duration.ofMillis(300)));
    assertSame(b, endpoints.choose().endpoint());
    assertEquals(300_000_000, endpoints.choose().waitNanos());
    clock.advance(Duration.ofMillis(300));
    assertEquals(0, endpoints.choose().waitNanos());
    endpoints.noteSuccess(b);
    assertTrue(endpoints.choose().lastFailure().isEmpty());
  }

  @Test
  void theWaitAfterFailuresIsDrawnAndDoublesUpToTwoSeconds() {
    for (int failures = 1; failures < 100; failures++) {
      long limitNanos = Math.min(2_000_000_000L, 100_000_000L << Math.min(failures, 20));
      assertEquals(limitNanos / 2, Backoff.nanos(failures, Optional.empty(), () -> 0.5));
      assertEquals(0, Backoff.nanos(failures, Optional.empty(), () -> 0));
    }
  }

  @Test
  void ofADelayThatAServerSaysOneSecondCountsAndFiveForAQuota() {
    Optional<Duration> ages = Optional.of(Duration.ofSeconds(20));
    assertEquals(1_500_000_000, Backoff.nanos(0, ages, () -> 1));
    assertEquals(1_000_000_000, Backoff.nanos(0, ages, () -> 0));
    assertEquals(7_500_000_000L, Backoff.quotaNanos(ages, () -> 1));
    assertEquals(0, Backoff.quotaNanos(Optional.empty(), () -> 1));
  }

  @Test
  void aBufferAddsAtMostATenthOfASecondToTheBackOffOfAServer() {
    Map<SnowlaneException, Long> longest =
        Map.of(
            failure(StatusCode.UNAVAILABLE, "http://a"), 100_000_000L,
            failure(StatusCode.UNAVAILABLE, null), 2_000_000_000L,
            failure(StatusCode.RESOURCE_EXHAUSTED, "http://a"), 2_000_000_000L,
            new SnowlaneException(ErrorReason.UNREACHABLE, "x", Map.of("answered", "never")), 400_000_000L);
    longest.forEach((failure, nanos) -> assertEquals(nanos, Backoff.refillNanos(5, failure, () -> 1), failure::toString));
  }

  private static SnowlaneException failure(StatusCode code, String endpoint) {
    Duration delay = Duration.ofSeconds(1);
    return new SnowlaneException(ErrorReason.STORE_UNAVAILABLE, code, "x", Map.of(), delay, endpoint, null);
  }
}
