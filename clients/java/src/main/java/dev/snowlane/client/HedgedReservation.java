package dev.snowlane.client;

import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.ReserveIdsRequest;
import dev.snowlane.v1.ReserveIdsResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * One attempt to reserve, whose request is sent a second time if its answer is late. The first valid answer is taken;
 * the other request is cancelled and its answer never read. If both fail, the attempt fails with the error of the
 * first.
 *
 * For the thread of the call alone.
 */
final class HedgedReservation {

  private final Calls calls;
  private final Hedges hedges;
  private final Attempts attempts;
  private final ReserveIdsRequest request;
  private final Function<ReserveIdsResponse, List<IdRun>> read;
  private final ClientClock clock;

  /** The events in order: a leg that ended, or the time of the hedge, which has no leg. */
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

  private final List<Leg> legs = new ArrayList<>();

  /**
   * @param leg null: the hedge is due
   */
  private record Event(Leg leg) {}

  /**
   * @param read checks an answer once it is admitted
   */
  HedgedReservation(
      Calls calls,
      Hedges hedges,
      Attempts attempts,
      ReserveIdsRequest request,
      Function<ReserveIdsResponse, List<IdRun>> read) {
    this.calls = calls;
    this.hedges = hedges;
    this.attempts = attempts;
    this.request = request;
    this.read = read;
    this.clock = calls.settings().clock();
  }

  /** Makes the attempt, and records in it which request was answered. */
  List<IdRun> run(Attempts.Attempt attempt) {
    Endpoint asked = attempt.endpoint();
    Hedges.Plan plan = hedges.plan(asked);
    Leg first = start(calls.exchange(asked), asked);
    // The delay is never 0: the clock may run at once a task that is due at once.
    ClientClock.Timer due = clock.after(Math.max(plan.delayNanos(), 1), () -> events.add(new Event(null)));
    try {
      while (legs.stream().anyMatch(leg -> !leg.isSettled)) {
        Leg leg = next().leg();
        if (leg == null && !first.isSettled && hedges.isPermitted(plan)) startHedge(plan);
        if (leg == null || !settle(leg)) continue;
        calls.endpoints().noteHedge(leg.endpoint, leg.endpoint != asked);
        reportOthers(attempt, leg);
        if (leg != first) attempt.answeredByHedge(leg.endpoint);
        return leg.runs;
      }
    } finally {
      due.cancel();
      legs.forEach(Leg::lose);
    }
    reportOthers(attempt, first);
    attempt.isReplaced = first.isReplaced;
    if (RpcErrors.of(first.failure, asked.url()).reason() == ErrorReason.QUOTA_EXCEEDED) hedges.noteQuota();
    throw first.failure;
  }

  /** Informs the observer about the request that did not decide the outcome of the attempt. */
  private void reportOthers(Attempts.Attempt attempt, Leg outcome) {
    for (Leg other : legs) {
      if (other == outcome) continue;
      boolean isHedge = other != legs.get(0);
      attempts.reportOther(attempt, other.endpoint, isHedge, other.isSettled ? other.failure : null);
    }
  }

  private void startHedge(Hedges.Plan plan) {
    try {
      start(plan.isSecond() ? calls.secondExchange(plan.endpoint()) : calls.exchange(plan.endpoint()), plan.endpoint());
    } catch (RuntimeException noToken) {
      // The first request stays on its way.
    }
  }

  private Leg start(Calls.Exchange exchange, Endpoint endpoint) {
    Leg leg = new Leg(exchange, endpoint);
    legs.add(leg);
    leg.send();
    return leg;
  }

  private Event next() {
    try {
      return events.take();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw Status.CANCELLED.withCause(interrupted).asRuntimeException();
    }
  }

  /** Reads the result of a leg. Returns whether its answer decides the attempt. */
  private boolean settle(Leg leg) {
    leg.isSettled = true;
    if (leg.failure != null) return false;
    try {
      calls.admission(leg.endpoint).deployment(leg.response.getDeployment());
      leg.runs = read.apply(leg.response);
      hedges.noteAnswer(leg.tookNanos);
      leg.exchange.adopt();
      return true;
    } catch (RuntimeException refused) {
      leg.failure = refused;
      return false;
    } finally {
      leg.end(null);
    }
  }

  /** One of the two requests. The queue hands what its transport reports to the thread of the call. */
  private final class Leg implements StreamObserver<ReserveIdsResponse> {

    final Endpoint endpoint;
    final Calls.Exchange exchange;
    private final Context.CancellableContext context = Context.current().withCancellation();
    private final long startedNanos = clock.nanos();
    ReserveIdsResponse response;
    RuntimeException failure;
    long tookNanos;
    boolean isReplaced;

    // For the thread of the call.
    boolean isSettled;
    List<IdRun> runs;

    private final AtomicBoolean isEnded = new AtomicBoolean();
    private volatile boolean isAnswered;
    private volatile boolean isLost;

    Leg(Calls.Exchange exchange, Endpoint endpoint) {
      this.exchange = exchange;
      this.endpoint = endpoint;
    }

    void send() {
      context.run(
          () -> {
            try {
              exchange
                  .stub(IdServiceGrpc::newStub)
                  .withDeadlineAfter(attempts.leftNanos(), TimeUnit.NANOSECONDS)
                  .reserveIds(request, this);
            } catch (RuntimeException refused) {
              onError(refused);
            }
          });
    }

    /** Cancels it: the other one was answered, or the call has ended. */
    void lose() {
      isLost = true;
      context.cancel(null);
      if (isAnswered) end(null);
    }

    /**
     * Ends its exchange, once.
     *
     * @param error null: it was answered
     */
    void end(RuntimeException error) {
      if (!isEnded.compareAndSet(false, true)) return;
      isReplaced = error != null && isLost ? exchange.endLost() : exchange.end(error);
    }

    @Override
    public void onNext(ReserveIdsResponse answer) {
      response = answer;
      tookNanos = clock.nanos() - startedNanos;
    }

    @Override
    public void onError(Throwable error) {
      failure = error instanceof RuntimeException known ? known : new IllegalStateException(error);
      end(failure);
      events.add(new Event(this));
    }

    @Override
    public void onCompleted() {
      if (response == null) {
        onError(Status.INTERNAL.withDescription("The answer has no message.").asRuntimeException());
        return;
      }
      isAnswered = true;
      events.add(new Event(this));
      // No one reads it any more.
      if (isLost) end(null);
    }
  }
}
