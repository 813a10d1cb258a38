package dev.snowlane.client;

import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** The calls of one client: its connections, its token, and the attempts of each call. */
final class Calls {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Makes one RPC by a stub. */
  interface Work<S, T> {
    /**
     * @param admit takes in the number of the answer's deployment, before any ID of it is read
     */
    T apply(S stub, IntConsumer admit);
  }

  private final ClientSettings settings;
  private final Endpoints endpoints;
  private final Connections connections;
  private final Deployments deployments;
  private final Meeting meeting;
  private final Closing closing = new Closing();

  Calls(ClientSettings settings) {
    this.settings = settings;
    this.endpoints = new Endpoints(settings.endpoints(), settings.clock(), settings.random());
    this.connections =
        new Connections(endpoint -> new Connection(endpoint.address, settings.tls()), settings.clock());
    this.deployments = new Deployments(settings.deployments());
    this.meeting = new Meeting(endpoints.all(), this, deployments);
  }

  ClientSettings settings() {
    return settings;
  }

  boolean isClosed() {
    return closing.isClosed();
  }

  /** The number of the deployment that the last answer came from; 0 while none is known. */
  int deployment() {
    return deployments.current();
  }

  /** The attempts of a new call; without a timeout, the client's bounds it. */
  Attempts attempts(String method, Optional<Duration> timeout) {
    return new Attempts(settings, endpoints, closing, method, timeout);
  }

  /** Makes a call of one answer, with its attempts. */
  <S extends AbstractStub<S>, T> T call(
      String method, Duration timeout, Function<Channel, S> stubs, Work<S, T> work) {
    Attempts attempts = attempts(method, Optional.of(timeout));
    while (true) {
      Attempts.Attempt attempt = begin(attempts);
      T result;
      try {
        result = send(attempts, attempt, stubs, work);
      } catch (RuntimeException error) {
        attempts.fail(attempt, error);
        continue;
      }
      attempts.succeed(attempt);
      return result;
    }
  }

  /**
   * Begins an attempt.
   *
   * @throws SnowlaneException as {@link Attempts#begin}; DEPLOYMENT_MISMATCH
   */
  Attempts.Attempt begin(Attempts attempts) {
    meeting.begin();
    return attempts.begin();
  }

  /**
   * Takes in the number of an answer's deployment, before any ID of it is read.
   *
   * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
   */
  void admit(Endpoint endpoint, int deployment) {
    meeting.admit(endpoint, deployment);
  }

  /** Begins an RPC at an endpoint. */
  Exchange exchange(Endpoint endpoint) {
    Metadata headers = new Metadata();
    // Asked for first: where there is none, nothing is sent.
    settings.token().ifPresent(token -> headers.put(AUTHORIZATION, Bearer.of(token)));
    return new Exchange(endpoint, connections.begin(endpoint), headers);
  }

  /** Ends all calls with CLIENT_CLOSED. */
  void end() {
    closing.close();
  }

  /** Closes the connections of a client that has ended. */
  void disconnect() {
    connections.close();
  }

  private <S extends AbstractStub<S>, T> T send(
      Attempts attempts, Attempts.Attempt attempt, Function<Channel, S> stubs, Work<S, T> work) {
    Exchange exchange = exchange(attempt.endpoint());
    RuntimeException failure = null;
    try {
      S stub = exchange.stub(stubs).withDeadlineAfter(attempts.leftNanos(), TimeUnit.NANOSECONDS);
      return work.apply(stub, number -> admit(attempt.endpoint(), number));
    } catch (RuntimeException error) {
      failure = error;
      throw error;
    } finally {
      attempt.isReplaced = exchange.end(failure);
    }
  }

  /** One RPC on its way, over one connection. */
  final class Exchange {

    private final Endpoint endpoint;
    private final Connection used;
    private final Metadata headers;

    private Exchange(Endpoint endpoint, Connection used, Metadata headers) {
      this.endpoint = endpoint;
      this.used = used;
      this.headers = headers;
    }

    /** A stub that sends the token. */
    <S extends AbstractStub<S>> S stub(Function<Channel, S> stubs) {
      Channel channel;
      try {
        channel = used.channel();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw Status.CANCELLED.withCause(interrupted).asRuntimeException();
      }
      S stub = stubs.apply(channel);
      if (headers.keys().isEmpty()) return stub;
      return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /** Takes in that the next chunk is due from now on. */
    void awaitChunk() {
      connections.awaitAnswer(used);
    }

    /** Takes in that a chunk came. */
    void noteChunk() {
      connections.noteAnswer(endpoint, used);
    }

    /**
     * Ends it.
     *
     * @param error null: it succeeded
     * @return whether the next RPC at this endpoint takes another connection, because this one was dark
     */
    boolean end(RuntimeException error) {
      return connections.end(endpoint, used, error);
    }
  }
}
