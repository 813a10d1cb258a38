package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;

/**
 * The metrics hook: it is called with what a client and its buffers do. No method is called for an ID that is in stock.
 * Methods are called on any thread, without a lock; they should return soon, and what they throw is ignored.
 */
public interface ClientObserver {

  /** An observer that does nothing. */
  ClientObserver NONE = new ClientObserver() {};

  /**
   * How one attempt of an RPC ended.
   *
   * @param method the name of the RPC
   * @param endpoint the URL of the server
   * @param attempt number of the attempt within its call, from 1
   * @param isHedge whether it is the second request of a refill that had no answer soon; both have one number
   * @param duration how long it took
   * @param reason why it failed; empty if it succeeded
   */
  record AttemptEvent(
      String method,
      String endpoint,
      int attempt,
      boolean isHedge,
      Duration duration,
      Optional<ErrorReason> reason) {}

  /**
   * How a reservation of a buffer ended.
   *
   * @param asked how many IDs the buffer asked for
   * @param received how many IDs came; 0 if it failed
   * @param duration how long it took
   * @param ratePerSecond the rate at which IDs were handed out, as last measured
   * @param reason why it failed; empty if it succeeded
   */
  record RefillEvent(
      int asked, int received, Duration duration, double ratePerSecond, Optional<ErrorReason> reason) {}

  /**
   * How a caller's wait on a dry buffer ended.
   *
   * @param duration how long the caller waited
   * @param reason why it got no ID; empty if it may claim one
   */
  record WaitEvent(Duration duration, Optional<ErrorReason> reason) {}

  /**
   * IDs of a buffer grew too old unused, or were dropped because the buffer was closed.
   *
   * @param dropped how many, at least 1
   */
  record ExpireEvent(long dropped) {}

  /** The state of a client or a buffer. */
  enum State {
    /** Refills of a buffer fail: three in a row, or for a second. */
    FAILING,
    /** The refills of a buffer that failed work again. */
    WORKING,
    /** From now on, the client calls another endpoint. */
    MOVED,
    /** A connection that answered nothing is replaced by another. */
    REPLACED,
    /** A server of another deployment answered, and its answer was dropped. */
    MISMATCH
  }

  /**
   * A client or a buffer has a new state. The log gets the same.
   *
   * @param state the state
   * @param reason why; empty where nothing failed
   * @param endpoint the URL of the server; empty if the event is not about a server
   * @param duration for how long refills had failed; zero in states other than {@code WORKING}
   */
  record StateEvent(State state, Optional<ErrorReason> reason, Optional<String> endpoint, Duration duration) {}

  /** An attempt ended. */
  default void onAttempt(AttemptEvent event) {}

  /** A reservation ended. */
  default void onRefill(RefillEvent event) {}

  /** A caller's wait on a dry buffer ended. */
  default void onWait(WaitEvent event) {}

  /** IDs of a buffer were dropped. */
  default void onExpire(ExpireEvent event) {}

  /** A client or a buffer has a new state. */
  default void onState(StateEvent event) {}
}
