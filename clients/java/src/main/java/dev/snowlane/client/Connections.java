package dev.snowlane.client;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Opens a connection to an endpoint at its first call, and another if that one is dark: it is open but answers nothing.
 * Attempts 12 of docs/internals/client-contract.md has the rule.
 */
final class Connections {

  /**
   * A connection counts as dark after this much silence. The time doubles for each new connection in a row that
   * answered nothing.
   */
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long SILENCE_MAX_NANOS = TimeUnit.SECONDS.toNanos(8);
  private static final int DOUBLINGS_MAX = 3;

  /**
   * A connection that has not answered yet is not replaced before this age: its server may be overloaded, and one more
   * handshake would add to the load.
   */
  private static final long OPENING_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The shortest time between two openings of a second connection beside one that has answered. */
  private static final long SECOND_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The most streams that share a connection: servers permit 100. */
  private static final int STREAMS_EACH = 90;

  /** The state of the connection to an endpoint, as far as it is known. */
  enum State {
    ANSWERS,
    MUST_OPEN,
    OWES_AN_ANSWER
  }

  private final Function<Endpoint, Connection> open;
  private final ClientClock clock;

  /** Called with each endpoint whose connection was replaced, without the lock. */
  private final Consumer<Endpoint> onReplaced;

  // This object guards all fields below, and all fields of connections but their channels.
  private final Map<Endpoint, Connection> inUse = new HashMap<>();

  /**
   * The connections of streams, so that a paused reader holds up no call. The first one stays, others close when empty.
   */
  private final Map<Endpoint, List<Connection>> streaming = new HashMap<>();

  private final Set<Connection> replaced = new HashSet<>();
  private final Map<Endpoint, Integer> unansweredInRow = new HashMap<>();

  /** When a second one was opened last. */
  private final Map<Endpoint, Long> secondNanos = new HashMap<>();

  private boolean isClosed;

  Connections(Function<Endpoint, Connection> open, ClientClock clock, Consumer<Endpoint> onReplaced) {
    this.open = open;
    this.clock = clock;
    this.onReplaced = onReplaced;
  }

  /** Returns the connection for an RPC. Each one must be ended by {@link #end}. */
  synchronized Connection begin(Endpoint endpoint) {
    if (isClosed) throw Closing.error();
    Connection used = upToDate(endpoint, inUse.get(endpoint));
    if (used == null) {
      used = opened(endpoint);
      inUse.put(endpoint, used);
    }
    watch(used);
    used.callCount++;
    awaitAnswer(used);
    return used;
  }

  /**
   * Notices when a connection is lost, and treats it as one that is being opened: gRPC opens another in the same
   * channel, and a call that waits for it may succeed.
   */
  private void watch(Connection used) {
    if (used.isWatched || !used.isReady()) return;
    used.isWatched = true;
    used.whenLost(
        () -> {
          synchronized (this) {
            used.isWatched = false;
            noteOpening(used);
          }
        });
  }

  /** Records that a connection is being opened. The time for which it owes an answer counts from now. */
  private void noteOpening(Connection used) {
    used.hasAnswered = false;
    used.openedNanos = clock.nanos();
    used.silentSinceNanos = used.openedNanos;
  }

  /** Returns the connection for a stream. Each one must be ended by {@link #end}. */
  synchronized Connection beginStream(Endpoint endpoint) {
    if (isClosed) throw Closing.error();
    List<Connection> all = streaming.computeIfAbsent(endpoint, key -> new ArrayList<>());
    Connection roomy = all.stream().filter(each -> each.callCount < STREAMS_EACH).findFirst().orElse(null);
    Connection used = upToDate(endpoint, roomy);
    if (used == null) {
      used = opened(endpoint);
      all.add(used);
    }
    used.callCount++;
    awaitAnswer(used);
    return used;
  }

  /** The connection itself; null where another has to be made, which then takes its place. */
  private @Nullable Connection upToDate(Endpoint endpoint, @Nullable Connection used) {
    if (used == null || !used.isOutdated()) return used;
    replace(endpoint, used);
    if (used.callCount == 0 && replaced.remove(used)) used.close();
    return null;
  }

  synchronized State state(Endpoint endpoint) {
    Connection used = inUse.get(endpoint);
    if (used == null || !used.hasAnswered) return State.MUST_OPEN;
    return used.isSilent ? State.OWES_AN_ANSWER : State.ANSWERS;
  }

  /** Whether a second one may be opened beside the one in use. */
  synchronized boolean maySecond(Endpoint endpoint) {
    Connection used = inUse.get(endpoint);
    Long atNanos = secondNanos.get(endpoint);
    boolean isEarly = atNanos != null && clock.nanos() - atNanos < SECOND_EVERY_NANOS;
    return used != null && used.hasAnswered && !isEarly;
  }

  /** Opens one beside that in use, for one RPC. It closes after that RPC, unless it is adopted. */
  synchronized Connection beginSecond(Endpoint endpoint) {
    if (isClosed) throw Closing.error();
    Connection second = opened(endpoint);
    secondNanos.put(endpoint, second.openedNanos);
    second.isReplaced = true;
    second.isSecond = true;
    replaced.add(second);
    second.callCount++;
    awaitAnswer(second);
    return second;
  }

  /** Puts a second one that answered first in place of the one in use. */
  synchronized void adopt(Endpoint endpoint, Connection second) {
    Connection slow = inUse.get(endpoint);
    // A connection without a call owes no answer, so it is no longer the slow one.
    if (!second.isSecond || (slow != null && slow.callCount == 0)) return;
    replaced.remove(second);
    second.isReplaced = false;
    second.isSecond = false;
    if (slow != null) {
      slow.isReplaced = true;
      replaced.add(slow);
    }
    inUse.put(endpoint, second);
  }

  private Connection opened(Endpoint endpoint) {
    Connection made = open.apply(endpoint);
    made.openedNanos = clock.nanos();
    return made;
  }

  /**
   * Records how an RPC ended.
   *
   * @param error null: with success
   * @param isUnheard whether it is a stream that has received no chunk
   * @return whether the next one at this endpoint takes another connection, because this one was dark
   */
  boolean end(Endpoint endpoint, Connection used, @Nullable RuntimeException error, boolean isUnheard) {
    boolean isReplaced = false;
    boolean isNew;
    synchronized (this) {
      boolean wasReplaced = used.isReplaced;
      if (error == null) noteAnswer(endpoint, used);
      else isReplaced = noteError(endpoint, used, error, isUnheard);
      isNew = used.isReplaced && !wasReplaced;
    }
    leave(endpoint, used);
    if (isNew) onReplaced.accept(endpoint);
    return isReplaced;
  }

  /**
   * Records that an RPC ended because its caller no longer needs an answer. If its connection is dark, the next call
   * finds out.
   */
  void leave(Endpoint endpoint, Connection used) {
    boolean isDone;
    synchronized (this) {
      used.callCount--;
      if (used.callCount == 0 && streaming.getOrDefault(endpoint, List.of()).indexOf(used) > 0) {
        replace(endpoint, used);
      }
      isDone = used.callCount == 0 && replaced.remove(used);
    }
    if (isDone) used.close();
  }

  /** Closes the connections to an endpoint after their last calls: its address is gone. */
  void retire(Endpoint endpoint) {
    List<Connection> idle = new ArrayList<>();
    synchronized (this) {
      List<Connection> all = new ArrayList<>(streaming.getOrDefault(endpoint, List.of()));
      Connection ofCalls = inUse.get(endpoint);
      if (ofCalls != null) all.add(ofCalls);
      for (Connection used : all) {
        replace(endpoint, used);
        if (used.callCount == 0 && replaced.remove(used)) idle.add(used);
      }
      streaming.remove(endpoint);
      unansweredInRow.remove(endpoint);
      secondNanos.remove(endpoint);
    }
    idle.forEach(Connection::close);
  }

  /** Records that an answer is due from now on. */
  synchronized void awaitAnswer(Connection used) {
    if (used.isSilent) return;
    used.isSilent = true;
    used.silentSinceNanos = clock.nanos();
  }

  /** Records that a server answered, with success, an error or a chunk. */
  synchronized void noteAnswer(Endpoint endpoint, Connection used) {
    used.isSilent = false;
    used.hasAnswered = true;
    if (!used.isReplaced) unansweredInRow.put(endpoint, 0);
  }

  /** Closes all of them. */
  void close() {
    List<Connection> all = new ArrayList<>();
    synchronized (this) {
      isClosed = true;
      all.addAll(inUse.values());
      streaming.values().forEach(all::addAll);
      all.addAll(replaced);
      inUse.clear();
      streaming.clear();
      replaced.clear();
    }
    all.forEach(Connection::close);
  }

  private boolean noteError(Endpoint endpoint, Connection used, RuntimeException error, boolean isUnheard) {
    ErrorReason reason = RpcErrors.of(error, endpoint.url()).reason();
    boolean isCancelled =
        error instanceof StatusRuntimeException rpc && rpc.getStatus().getCode() == Status.Code.CANCELLED;
    if (isCancelled || reason == ErrorReason.DEADLINE_EXCEEDED) {
      noteLimit(endpoint, used, isUnheard);
      return used.isReplaced;
    }
    if (reason == ErrorReason.UNREACHABLE) {
      // The connection was refused or it ended: gRPC opens another in the same channel.
      used.isSilent = false;
      noteOpening(used);
      return used.isReplaced;
    }
    noteAnswer(endpoint, used);
    return false;
  }

  private void noteLimit(Endpoint endpoint, Connection used, boolean isUnheard) {
    // A server may permit fewer streams than this client assumes: the next stream must find room.
    boolean isFull = isUnheard && used.hasAnswered && used.callCount > 1;
    // The next call opens another. Calls that time out together find this one replaced.
    if ((isFull || isDark(endpoint, used)) && replace(endpoint, used)) unansweredInRow.merge(endpoint, 1, Integer::sum);
  }

  /**
   * Makes sure that a connection gets no more calls, and closes after the last. Returns false if it was out of use
   * already.
   */
  private boolean replace(Endpoint endpoint, Connection used) {
    List<Connection> ofStreams = streaming.get(endpoint);
    boolean wasInUse = inUse.remove(endpoint, used) || (ofStreams != null && ofStreams.remove(used));
    if (!wasInUse) return false;
    replaced.add(used);
    used.isReplaced = true;
    return true;
  }

  private boolean isDark(Endpoint endpoint, Connection used) {
    long nowNanos = clock.nanos();
    if (!used.isSilent || (!used.hasAnswered && nowNanos - used.openedNanos < OPENING_NANOS)) return false;
    int doublings = Math.min(unansweredInRow.getOrDefault(endpoint, 0), DOUBLINGS_MAX);
    return nowNanos - used.silentSinceNanos >= Math.min(SILENCE_MAX_NANOS, SILENCE_NANOS << doublings);
  }
}
