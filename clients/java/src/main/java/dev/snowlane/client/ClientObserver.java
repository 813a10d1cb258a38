package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;

/**
 * The metrics hook: hears what a client and its buffers do. No method is called for an ID that is in stock. Methods are
 * called on any thread, without a lock; they should return soon, and what they throw is ignored.
 */
public interface ClientObserver {

  /** Hears nothing. */
  ClientObserver NONE = new ClientObserver() {};

  /**
   * An attempt ended.
   *
   * @param number from 1, within its call
   * @param failure why; empty if it succeeded
   */
  record Attempt(String method, String endpoint, int number, Duration duration, Optional<ErrorReason> failure) {}

  /**
   * A reservation ended.
   *
   * @param received 0 if it failed
   * @param failure why; empty if it succeeded
   */
  record Refill(int asked, int received, Duration duration, double idsPerSecond, Optional<ErrorReason> failure) {}

  /**
   * A caller that found the buffer dry went on.
   *
   * @param failure why it got no ID; empty if it may claim one
   */
  record Wait(Duration duration, Optional<ErrorReason> failure) {}

  default void onAttempt(Attempt attempt) {}

  default void onRefill(Refill refill) {}

  default void onWait(Wait wait) {}

  /** So many IDs, at least 1, grew too old unused, or were dropped because the buffer was closed. */
  default void onExpire(long count) {}
}
