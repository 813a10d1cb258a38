package dev.snowlane.client;

import dev.snowlane.client.ClientObserver.State;
import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the attempts of one call: chooses the endpoint, waits where that helps, and decides when to give up. Only the
 * thread of the call may use it. docs/adr/0056 says why calls block.
 */
final class Attempts {

  /** One attempt on its way. */
  static final class Attempt {

    private Endpoint endpoint;
    private boolean isHedge;
    private final int number;
    private final long startedNanos;

    /** Whether its connection was dark, so that the next attempt at this endpoint takes another one. */
    boolean isReplaced;

    private Attempt(Endpoint endpoint, int number, long startedNanos) {
      this.endpoint = endpoint;
      this.number = number;
      this.startedNanos = startedNanos;
    }

    Endpoint endpoint() {
      return endpoint;
    }

    /** Records that its second request was answered. */
    void answeredByHedge(Endpoint other) {
      endpoint = other;
      isHedge = true;
    }

    /** From 1. */
    int number() {
      return number;
    }

    long startedNanos() {
      return startedNanos;
    }
  }

  private final ClientSettings settings;
  private final Endpoints endpoints;
  private final States states;
  private final Closing closing;
  private final String method;

  /** How long the call may take in all; a stream without a deadline starts it again with each chunk. */
  private final long limitNanos;

  private final boolean hasOwnDeadline;
  private long deadlineNanos;
  private int number;

  /** The error to report when time runs out: the last failure that was not itself caused by time running out. */
  private @Nullable SnowlaneException lastFailure;

  /** How long the server asked the caller to wait. */
  private long quotaWaitNanos;

  /**
   * @param timeout that of the caller; empty: the client's. An earlier deadline of the gRPC context takes precedence
   */
  Attempts(
      ClientSettings settings,
      Endpoints endpoints,
      States states,
      Closing closing,
      String method,
      Optional<Duration> timeout) {
    this.settings = settings;
    this.endpoints = endpoints;
    this.states = states;
    this.closing = closing;
    this.method = method;
    Deadline ofContext = Context.current().getDeadline();
    long ownNanos = Times.nanos(timeout.orElse(settings.timeout()));
    long contextNanos = ofContext == null ? Long.MAX_VALUE : ofContext.timeRemaining(TimeUnit.NANOSECONDS);
    this.limitNanos = Math.min(ownNanos, contextNanos);
    this.hasOwnDeadline = timeout.isPresent() || ofContext != null;
    this.deadlineNanos = settings.clock().nanos() + limitNanos;
  }

  /** The time that the call has left; 0 or less once that time is over. */
  long callLeftNanos() {
    return deadlineNanos - settings.clock().nanos();
  }

  /** How long the current attempt may still take. */
  long leftNanos() {
    return Math.min(Times.nanos(settings.attemptTimeout()), callLeftNanos());
  }

  boolean hasOwnDeadline() {
    return hasOwnDeadline;
  }

  /**
   * Waits until the next attempt is due, and chooses its endpoint. Each attempt must be ended by {@link #succeed} or
   * {@link #fail}.
   *
   * @throws SnowlaneException if it would be due after the deadline, or the call is ended otherwise
   */
  Attempt begin() {
    Endpoints.Choice choice = endpoints.choose();
    endpoints.announceMove().ifPresent(this::tellMoved);
    long waitNanos = Math.max(choice.waitNanos(), quotaWaitNanos);
    quotaWaitNanos = 0;
    refuseIfEnded();
    if (waitNanos >= callLeftNanos()) {
      if (lastFailure != null) throw lastFailure;
      throw choice.lastFailure().map(SnowlaneException::rethrown).orElseGet(Attempts::timedOut);
    }
    if (waitNanos > 0) sleep(waitNanos);
    number++;
    return new Attempt(choice.endpoint(), number, settings.clock().nanos());
  }

  private void tellMoved(Endpoint endpoint) {
    Optional<ErrorReason> reason = Optional.ofNullable(lastFailure).map(SnowlaneException::reason);
    states.tell(State.MOVED, reason, Optional.of(endpoint.url()), Duration.ZERO);
  }

  /**
   * Informs the observer about the request that did not decide the outcome of an attempt: it failed, or it was
   * cancelled because the other one was answered first.
   *
   * @param cause null: it was cancelled
   */
  void reportOther(Attempt attempt, Endpoint endpoint, boolean isHedge, @Nullable RuntimeException cause) {
    boolean isCancelled = cause == null || ended(cause).isPresent();
    ErrorReason reason = isCancelled ? ErrorReason.CANCELLED : RpcErrors.of(cause, endpoint.url()).reason();
    report(attempt, endpoint, isHedge, Optional.of(reason));
  }

  void succeed(Attempt attempt) {
    endpoints.noteSuccess(attempt.endpoint());
    report(attempt, attempt.endpoint(), attempt.isHedge, Optional.empty());
  }

  /** Records that a stream moved on: the count of attempts starts again. */
  void progress(Attempt attempt) {
    number = 1;
    lastFailure = null;
    endpoints.noteSuccess(attempt.endpoint());
  }

  /** Records that a stream's reader waits for the next chunk: the time starts again, unless the caller set an end. */
  void awaitNext() {
    if (!hasOwnDeadline) deadlineNanos = settings.clock().nanos() + limitNanos;
  }

  /**
   * Records that an attempt failed.
   *
   * @return the failure, if another attempt may be made
   * @throws SnowlaneException the error of the call, if the call is over
   */
  SnowlaneException fail(Attempt attempt, RuntimeException cause) {
    SnowlaneException failure =
        ended(cause).orElseGet(() -> RpcErrors.of(cause, attempt.endpoint().url(), !endpoints.hasAnswered()));
    report(attempt, attempt.endpoint(), attempt.isHedge, Optional.of(failure.reason()));
    boolean hasRunOut = failure.reason() == ErrorReason.DEADLINE_EXCEEDED;
    boolean isOver = callLeftNanos() <= 0;
    boolean isAnswer =
        failure.endpoint().isPresent()
            && (failure.reason() != ErrorReason.UNREACHABLE || RpcErrors.isOfServer(cause));
    if (isAnswer && !hasRunOut) endpoints.noteAnswer();
    if (failure.reason() == ErrorReason.QUOTA_EXCEEDED) {
      quotaWaitNanos = Backoff.quotaNanos(failure.retryAfter(), settings.random());
    } else if (attempt.isReplaced) {
      endpoints.noteDarkConnection(attempt.endpoint());
    } else if (!isOfServer(failure) && !hasRunOut) {
      throw failure;
    } else if (!hasRunOut || !isOver) {
      // If the caller's own time has run out, that says nothing about the endpoint.
      failure = endpoints.noteFailure(attempt.endpoint(), failure);
      if (failure.isFirstMistake()) throw failure;
    }
    if (!hasRunOut) lastFailure = failure;
    if (!isOver && number <= settings.retryMax()) return failure;
    throw lastFailure == null ? failure : lastFailure;
  }

  /** The error for a call that took too long. */
  static SnowlaneException timedOut() {
    return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, "No answer came in time.");
  }

  /** Whether another server may succeed where this one failed. */
  private static boolean isOfServer(SnowlaneException failure) {
    return failure.code() == StatusCode.UNAVAILABLE || failure.reason() == ErrorReason.DEPLOYMENT_MISMATCH;
  }

  private void sleep(long nanos) {
    try {
      closing.sleep(settings.clock(), nanos);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw cancelled(interrupted);
    }
    refuseIfEnded();
  }

  private void refuseIfEnded() {
    Optional<SnowlaneException> error = ended(null);
    if (error.isPresent()) throw error.get();
  }

  /** The error of a client that is closed, or of a caller that was interrupted or cancelled. */
  private Optional<SnowlaneException> ended(@Nullable Throwable cause) {
    if (closing.isClosed()) return Optional.of(Closing.error());
    boolean hasTimedOut = Context.current().cancellationCause() instanceof TimeoutException;
    boolean isCancelled = Context.current().isCancelled() && !hasTimedOut;
    return isCancelled || Thread.currentThread().isInterrupted() ? Optional.of(cancelled(cause)) : Optional.empty();
  }

  private static SnowlaneException cancelled(@Nullable Throwable cause) {
    return new SnowlaneException(ErrorReason.CANCELLED, "The caller cancelled.", cause);
  }

  private void report(Attempt attempt, Endpoint endpoint, boolean isHedge, Optional<ErrorReason> failure) {
    Duration duration = Duration.ofNanos(settings.clock().nanos() - attempt.startedNanos());
    ClientObserver.AttemptEvent event =
        new ClientObserver.AttemptEvent(
            method, endpoint.url(), attempt.number(), isHedge, duration, failure);
    Observers.tell(() -> settings.observer().onAttempt(event));
  }
}
