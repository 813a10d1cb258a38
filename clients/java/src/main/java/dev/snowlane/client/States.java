package dev.snowlane.client;

import dev.snowlane.client.ClientObserver.State;
import dev.snowlane.client.ClientObserver.StateEvent;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Reports the state of a client to the observer and the log. To be called without a lock, because it calls the
 * observer.
 */
final class States {

  /** The shortest time between two lines of one kind in the log. */
  private static final long LOG_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final System.Logger LOG = System.getLogger("dev.snowlane.client");

  /** The text and the level of the log line for each state. */
  private record Line(Level level, String text) {}

  private static final Map<State, Line> LINES =
      Map.of(
          State.FAILING, new Line(Level.WARNING, "Refills fail"),
          State.WORKING, new Line(Level.INFO, "Refills work again"),
          State.MOVED, new Line(Level.INFO, "Another endpoint is in use"),
          State.REPLACED, new Line(Level.INFO, "A connection that answered nothing is replaced"),
          State.MISMATCH, new Line(Level.ERROR, "A server is of another deployment, and its answer was dropped"));

  private final ClientClock clock;
  private final ClientObserver observer;

  /** Guarded by this object. */
  private final Map<State, Long> loggedNanos = new EnumMap<>(State.class);

  States(ClientClock clock, ClientObserver observer) {
    this.clock = clock;
    this.observer = observer;
  }

  void tell(State state, Optional<ErrorReason> reason, Optional<String> endpoint, Duration duration) {
    StateEvent event = new StateEvent(state, reason, endpoint, duration);
    Observers.tell(() -> observer.onState(event));
    if (isDue(state)) LOG.log(LINES.get(state).level, textOf(event));
  }

  private static String textOf(StateEvent event) {
    String since = event.duration().isZero() ? "" : " after " + event.duration().toMillis() + " ms";
    String at = event.endpoint().map(url -> " (" + url + ")").orElse("");
    return LINES.get(event.state()).text + since + event.reason().map(reason -> ": " + reason).orElse("") + at;
  }

  /** Whether the log may get a line of this kind again. */
  private synchronized boolean isDue(State state) {
    Long atNanos = loggedNanos.get(state);
    if (atNanos != null && clock.nanos() - atNanos < LOG_PAUSE_NANOS) return false;
    loggedNanos.put(state, clock.nanos());
    return true;
  }
}
