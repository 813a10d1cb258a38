package dev.snowlane.client;

import dev.snowlane.client.ClientObserver.State;
import dev.snowlane.v1.GetInfoRequest;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.IdServiceGrpc;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Asks all endpoints of a client which deployment they belong to, in parallel with its first call and before its first
 * ID.
 */
final class Meeting {

  /** The longest time that the first ID waits for their answers. */
  private static final long TIMEOUT_MS = 500;

  private final Endpoints endpoints;
  private final Calls calls;
  private final Deployments deployments;
  private final Deployments databases = Deployments.ofDatabases();

  /** Null before the first call; guarded by this object. */
  private CompletableFuture<Void> met;

  Meeting(Endpoints endpoints, Calls calls, Deployments deployments) {
    this.endpoints = endpoints;
    this.calls = calls;
    this.deployments = deployments;
  }

  /**
   * Begins to ask, at the first call.
   *
   * @throws SnowlaneException DEPLOYMENT_MISMATCH, if they belong to two
   */
  void begin() {
    met();
    deployments.refuseIfInConflict();
  }

  /**
   * Checks the number of an answer's deployment, before any ID of it is read.
   *
   * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
   */
  void admit(Endpoint endpoint, int number) {
    met().join();
    deployments.refuseIfInConflict();
    if (number == 0) return;
    // With only one endpoint, there is nothing to compare its answer with.
    boolean isNew = !deployments.knows(number) && endpoints.all().size() > 1;
    Optional<Deployments.MetServer> asked = isNew ? ask(endpoint).join() : Optional.empty();
    Deployments.MetServer unasked = new Deployments.MetServer(endpoint.url(), number, Optional.empty());
    try {
      deployments.admit(asked.filter(server -> server.number() == number).orElse(unasked));
    } catch (SnowlaneException mismatch) {
      tellMismatch(endpoint.url());
      throw mismatch;
    }
  }

  /**
   * Checks the number of the database of sequences that an answer's values come from, before any of them is read.
   *
   * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
   */
  void admitDatabase(Endpoint endpoint, int number) {
    met().join();
    deployments.refuseIfInConflict();
    if (number == 0) return;
    try {
      databases.admit(new Deployments.MetServer(endpoint.url(), number, Optional.empty()));
    } catch (SnowlaneException mismatch) {
      tellMismatch(endpoint.url());
      throw mismatch;
    }
  }

  private void tellMismatch(String url) {
    calls.states().tell(State.MISMATCH, Optional.of(ErrorReason.DEPLOYMENT_MISMATCH), Optional.of(url), Duration.ZERO);
  }

  private synchronized CompletableFuture<Void> met() {
    List<Endpoint> all = endpoints.all();
    if (met == null) met = all.size() < 2 ? CompletableFuture.completedFuture(null) : meetAll(all);
    return met;
  }

  private CompletableFuture<Void> meetAll(List<Endpoint> all) {
    List<CompletableFuture<Optional<Deployments.MetServer>>> answers = all.stream().map(this::ask).toList();
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenRun(() -> answers.forEach(answer -> answer.join().ifPresent(this::meetAtStart)));
  }

  private void meetAtStart(Deployments.MetServer server) {
    if (!deployments.meetAtStart(server)) tellMismatch(server.url());
  }

  /** Asks a server which deployment it belongs to; empty if it does not answer soon. */
  private CompletableFuture<Optional<Deployments.MetServer>> ask(Endpoint endpoint) {
    CompletableFuture<GetInfoResponse> answer = new CompletableFuture<>();
    // A caller that gives up does not end the request, because it serves all callers.
    Context.ROOT.run(() -> send(endpoint, answer));
    return answer.handle((info, error) -> error == null ? met(endpoint, info) : Optional.empty());
  }

  private static Optional<Deployments.MetServer> met(Endpoint endpoint, GetInfoResponse info) {
    int number = Deployments.numberOf(info.getDeploymentFingerprint());
    if (number == 0) return Optional.empty();
    return Optional.of(new Deployments.MetServer(endpoint.url(), number, Optional.of(info)));
  }

  private void send(Endpoint endpoint, CompletableFuture<GetInfoResponse> answer) {
    Calls.Exchange exchange;
    IdServiceGrpc.IdServiceStub stub;
    try {
      exchange = calls.exchange(endpoint);
      stub = exchange.stub(IdServiceGrpc::newStub).withDeadlineAfter(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (RuntimeException refused) {
      answer.completeExceptionally(refused);
      return;
    }
    stub.getInfo(
        GetInfoRequest.getDefaultInstance(),
        new StreamObserver<GetInfoResponse>() {
          @Override
          public void onNext(GetInfoResponse info) {
            if (answer.complete(info)) exchange.end(null);
          }

          @Override
          public void onError(Throwable error) {
            RuntimeException cause = error instanceof RuntimeException known ? known : new IllegalStateException(error);
            if (answer.completeExceptionally(error)) exchange.end(cause);
          }

          @Override
          public void onCompleted() {
            if (answer.completeExceptionally(new IllegalStateException("no answer"))) exchange.end(null);
          }
        });
  }
}
