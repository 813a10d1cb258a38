package dev.snowlane.client;

import dev.snowlane.client.ClientObserver.State;
import dev.snowlane.v1.ReserveIdsRequest;
import dev.snowlane.v1.ReserveIdsResponse;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The calls of one client: its connections, its token, and the attempts of each call. */
final class Calls {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Makes one RPC by a stub. */
  interface Work<S, T> {
    /**
     * @param admit checks the number of the answer, before any ID or value of it is read
     */
    T apply(S stub, Admission admit);
  }

  /** Checks the number of one answer: that of its deployment, or that of its database of sequences. */
  record Admission(Meeting meeting, Endpoint endpoint) {

    /**
     * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
     */
    void deployment(int number) {
      meeting.admit(endpoint, number);
    }

    /**
     * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
     */
    void database(int number) {
      meeting.admitDatabase(endpoint, number);
    }
  }

  private final ClientSettings settings;
  private final Endpoints endpoints;
  private final Connections connections;
  private final Deployments deployments;
  private final Meeting meeting;
  private final Names names;
  private final States states;
  private final Hedges hedges;
  private final Closing closing = new Closing();

  Calls(ClientSettings settings) {
    this.settings = settings;
    this.endpoints = new Endpoints(settings.endpoints(), settings.clock(), settings.random());
    this.states = new States(settings.clock(), settings.observer());
    this.connections =
        new Connections(
            endpoint -> new Connection(endpoint.address, settings.channel()), settings.clock(), this::tellReplaced);
    endpoints.onGone(connections::retire);
    this.names = new Names(endpoints, settings.clock(), settings.random(), settings.lookUp());
    this.deployments = new Deployments(settings.deployments());
    this.hedges = new Hedges(settings.clock(), endpoints, connections, settings.attemptTimeout());
    this.meeting = new Meeting(endpoints, this, deployments);
  }

  ClientSettings settings() {
    return settings;
  }

  States states() {
    return states;
  }

  private void tellReplaced(Endpoint endpoint) {
    states.tell(State.REPLACED, Optional.empty(), Optional.of(endpoint.url()), Duration.ZERO);
  }

  boolean isClosed() {
    return closing.isClosed();
  }

  /** The number of the deployment that the last answer came from; 0 while it is not known. */
  int deployment() {
    return deployments.current();
  }

  /** The attempts of a new call; without a timeout, the client's bounds it. */
  Attempts attempts(String method, Optional<Duration> timeout) {
    return new Attempts(settings, endpoints, states, closing, method, timeout);
  }

  /** Makes a call of one answer, with its attempts. */
  <S extends AbstractStub<S>, T> T call(
      String method, Duration timeout, Function<Channel, S> stubs, Work<S, T> work) {
    return run(method, timeout, (attempts, attempt) -> send(attempts, attempt, stubs, work));
  }

  /** Reserves for a buffer. A lost reservation is only a gap, so its request may be sent twice. */
  List<IdRun> refill(Duration timeout, ReserveIdsRequest request, Function<ReserveIdsResponse, List<IdRun>> read) {
    return run(
        "ReserveIds",
        timeout,
        (attempts, attempt) -> new HedgedReservation(this, hedges, attempts, request, read).run(attempt));
  }

  private <T> T run(String method, Duration timeout, BiFunction<Attempts, Attempts.Attempt, T> once) {
    Attempts attempts = attempts(method, Optional.of(timeout));
    while (true) {
      Attempts.Attempt attempt = begin(attempts);
      T result;
      try {
        result = once.apply(attempts, attempt);
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
    names.look();
    meeting.begin();
    return attempts.begin();
  }

  /** Checks the number of an answer of an endpoint. */
  Admission admission(Endpoint endpoint) {
    return new Admission(meeting, endpoint);
  }

  /** Begins an RPC at an endpoint. */
  Exchange exchange(Endpoint endpoint) {
    // The token is requested first: if there is none, nothing is sent.
    Metadata headers = headers();
    return new Exchange(endpoint, connections.begin(endpoint), headers, false);
  }

  /** Begins a stream at an endpoint, over a connection that it shares with no call. */
  Exchange streamExchange(Endpoint endpoint) {
    Metadata headers = headers();
    return new Exchange(endpoint, connections.beginStream(endpoint), headers, true);
  }

  /** Begins an RPC at an endpoint over a second connection. */
  Exchange secondExchange(Endpoint endpoint) {
    Metadata headers = headers();
    return new Exchange(endpoint, connections.beginSecond(endpoint), headers, false);
  }

  Endpoints endpoints() {
    return endpoints;
  }

  private Metadata headers() {
    Metadata headers = new Metadata();
    settings.token().ifPresent(token -> headers.put(AUTHORIZATION, Bearer.of(token)));
    return headers;
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
    @Nullable RuntimeException failure = null;
    try {
      S stub = exchange.stub(stubs).withDeadlineAfter(attempts.leftNanos(), TimeUnit.NANOSECONDS);
      return work.apply(stub, admission(attempt.endpoint()));
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

    /** Whether it is a stream that has received no chunk. */
    private boolean isUnheard;

    private Exchange(Endpoint endpoint, Connection used, Metadata headers, boolean isStream) {
      this.endpoint = endpoint;
      this.used = used;
      this.headers = headers;
      this.isUnheard = isStream;
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

    /** Records that the next chunk is due from now on. */
    void awaitChunk() {
      connections.awaitAnswer(used);
    }

    /** Records that a chunk came. */
    void noteChunk() {
      isUnheard = false;
      connections.noteAnswer(endpoint, used);
    }

    /**
     * Ends it.
     *
     * @param error null if it succeeded
     * @return whether the next RPC at this endpoint takes another connection, because this one was dark
     */
    boolean end(@Nullable RuntimeException error) {
      return connections.end(endpoint, used, error, isUnheard);
    }

    /** Ends it because its answer is no longer needed. */
    boolean endLost() {
      connections.leave(endpoint, used);
      return false;
    }

    /** Puts a second connection that answered first in place of the one in use. */
    void adopt() {
      connections.adopt(endpoint, used);
    }
  }
}
