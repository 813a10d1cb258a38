package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that stay open and let nothing through. */
@Timeout(180)
class DarkConnectionTest extends ScriptedServerTest {

  @Test
  void noCallFailsAndNoStreamEndsWhenAConnectionIsSwallowed() {
    IdClient client = connect(patient().attemptTimeout(Duration.ofSeconds(1)), server);
    long first = client.nextId();
    server.swallow();
    assertTrue(client.nextId() > first);
    Set<Long> taken = new HashSet<>();
    try (IdStream stream = client.stream(20_000)) {
      for (long[] ids : stream) {
        if (taken.isEmpty()) server.swallow();
        for (long id : ids) taken.add(id);
      }
    }
    assertEquals(20_000, taken.size());
  }

  @Test
  void aLimitOfTheCallerCountsToo() {
    IdClient client = connect(patient().attemptTimeout(Duration.ofSeconds(20)), server);
    client.nextId();
    server.swallow();
    expect(ErrorReason.DEADLINE_EXCEEDED, () -> client.nextId(Duration.ofSeconds(3)));
    assertTrue(client.nextId(Duration.ofSeconds(10)) > 0);
  }

  @Test
  void anEndpointMayBeAnIpv6Address() {
    assertEquals("dns:///%5B::1%5D:7609", EndpointAddress.read("http://[::1]:7609").target());
    assertEquals("dns:///dns.example.com:80", EndpointAddress.read("http://dns.example.com").target());
  }
}
