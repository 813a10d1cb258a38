package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.testing.FakeClock;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which connection a call takes, by a clock that the test sets. */
class ConnectionsTest {

  private static final StatusRuntimeException LIMIT = Status.DEADLINE_EXCEEDED.asRuntimeException();
  private static final StatusRuntimeException BROKEN = Status.UNAVAILABLE.asRuntimeException();
  private static final StatusRuntimeException REFUSED = Status.INVALID_ARGUMENT.asRuntimeException();

  private final FakeClock clock = new FakeClock();
  private final Endpoint endpoint = new Endpoint(EndpointAddress.read("http://127.0.0.1:1"), 0);
  private final Connections connections =
      new Connections(each -> new Connection(each.address, ChannelOptions.DEFAULTS), clock, each -> {});

  /** One call that ended, and how. */
  private record Call(Connection used, boolean isReplaced) {}

  @AfterEach
  void close() {
    connections.close();
  }

  /** One call that ends after a given time. */
  private Call call(long takesMs, RuntimeException error) {
    Connection used = connections.begin(endpoint);
    clock.advance(Duration.ofMillis(takesMs));
    return new Call(used, connections.end(endpoint, used, error, false));
  }

  @Test
  void aConnectionThatAnswersNothingForASecondIsReplacedAndClosed() {
    for (RuntimeException error : List.of(LIMIT, Status.CANCELLED.asRuntimeException())) {
      Connection first = call(0, null).used;
      Call late = call(1_000, error);
      assertSame(first, late.used);
      assertTrue(late.isReplaced && first.isClosed());
      assertNotSame(first, call(0, null).used);
    }
  }

  @Test
  void shortCallsThatRunOutInTurnAreOneSilence() {
    Connection first = call(0, null).used;
    for (boolean expected : List.of(false, false, false, true)) assertEquals(new Call(first, expected), call(300, LIMIT));
  }

  @Test
  void anAnswerOfAnyKindEndsTheSilence() {
    Connection first = call(0, null).used;
    for (RuntimeException answer : Arrays.asList(null, REFUSED)) {
      for (int i = 0; i < 5; i++) {
        call(600, LIMIT);
        call(100, answer);
      }
      assertSame(first, call(0, null).used);
    }
  }

  @Test
  void callsThatRunOutTogetherOpenOneConnection() {
    Connection first = call(0, null).used;
    for (int i = 0; i < 3; i++) assertSame(first, connections.begin(endpoint));
    clock.advance(Duration.ofSeconds(2));
    List<Connection> next = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      assertFalse(first.isClosed());
      assertTrue(connections.end(endpoint, first, LIMIT, false));
      next.add(call(0, null).used);
    }
    assertTrue(first.isClosed());
    assertEquals(1, next.stream().distinct().count());
  }

  @Test
  void aConnectionThatHasNotAnsweredYetIsLeftAloneForTenSeconds() {
    Connection first = call(2_000, LIMIT).used;
    for (int i = 0; i < 3; i++) assertEquals(new Call(first, false), call(2_000, LIMIT));
    assertEquals(new Call(first, true), call(2_000, LIMIT));
  }

  @Test
  void aConnectionThatEndedCountsAsANewOne() {
    Connection first = call(0, null).used;
    call(0, BROKEN);
    assertEquals(new Call(first, false), call(2_000, LIMIT));
  }

  @Test
  void newConnectionsThatAnswerNothingGetLongerEachTime() {
    call(0, null);
    assertTrue(call(1_000, LIMIT).isReplaced);
    for (long seconds : List.of(2, 4, 8, 8)) {
      // It is opened, and nothing is asked of it until it is old enough.
      call(0, LIMIT).used.isSilent = false;
      clock.advance(Duration.ofSeconds(10));
      assertFalse(call(seconds * 1_000 - 500, LIMIT).isReplaced);
      assertTrue(call(500, LIMIT).isReplaced);
    }
  }

  private Connection stream() {
    return connections.beginStream(endpoint);
  }

  private void endStream(Connection used, RuntimeException error, boolean isUnheard) {
    connections.end(endpoint, used, error, isUnheard);
  }

  @Test
  void streamsShareConnectionsWithEachOtherAndNotWithCalls() {
    Connection ofCalls = call(0, null).used;
    List<Connection> taken = new ArrayList<>();
    for (int i = 0; i < 100; i++) taken.add(stream());
    assertEquals(2, taken.stream().distinct().count());
    assertEquals(90, taken.stream().filter(taken.get(0)::equals).count());
    assertFalse(taken.contains(ofCalls));
    assertSame(ofCalls, call(0, null).used);
    taken.forEach(used -> endStream(used, null, false));
    // The first one stays, the other one is closed.
    assertTrue(taken.get(99).isClosed() && !taken.get(0).isClosed());
    assertSame(taken.get(0), stream());
  }

  @Test
  void aStreamWithoutAChunkBesideOthersThatFlowOpensAConnection() {
    Connection first = stream();
    connections.noteAnswer(endpoint, first);
    assertSame(first, stream());
    clock.advance(Duration.ofMillis(500));
    connections.noteAnswer(endpoint, first);
    endStream(first, LIMIT, true);
    assertFalse(first.isClosed());
    assertNotSame(first, stream());
  }

  @Test
  void whatAnAddressThatIsGoneHadIsClosedAfterItsLastCall() {
    Connection busy = connections.begin(endpoint);
    Connection idle = stream();
    endStream(idle, null, false);
    connections.retire(endpoint);
    assertTrue(idle.isClosed() && !busy.isClosed());
    connections.end(endpoint, busy, null, false);
    assertTrue(busy.isClosed());
  }
}
