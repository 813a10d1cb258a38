package dev.snowlane.client;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The calls of one client: its connections, its token, and the attempts of each call. */
final class Calls {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final ClientSettings settings;
  private final Endpoints endpoints;
  private final Closing closing = new Closing();

  /** Guarded by itself. */
  private final Map<Endpoint, Connection> connections = new HashMap<>();

  Calls(ClientSettings settings) {
    this.settings = settings;
    this.endpoints = new Endpoints(settings.endpoints(), settings.clock(), settings.random());
  }

  ClientSettings settings() {
    return settings;
  }

  boolean isClosed() {
    return closing.isClosed();
  }

  /** The attempts of a new call; without a timeout, the client's bounds it. */
  Attempts attempts(String method, Optional<Duration> timeout) {
    return new Attempts(settings, endpoints, closing, method, timeout);
  }

  /** Makes a call of one answer, with its attempts. */
  <S extends AbstractStub<S>, T> T call(
      String method, Duration timeout, Function<Channel, S> stubs, Function<S, T> work) {
    Attempts attempts = attempts(method, Optional.of(timeout));
    while (true) {
      Attempts.Attempt attempt = attempts.begin();
      T result;
      try {
        S stub = stub(attempt.endpoint(), stubs);
        result = work.apply(stub.withDeadlineAfter(attempts.leftNanos(), TimeUnit.NANOSECONDS));
      } catch (RuntimeException error) {
        attempts.fail(attempt, error);
        continue;
      }
      attempts.succeed(attempt);
      return result;
    }
  }

  /** A stub for one endpoint, which sends the token. */
  <S extends AbstractStub<S>> S stub(Endpoint endpoint, Function<Channel, S> stubs) {
    ManagedChannel channel;
    try {
      channel = connection(endpoint).channel();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw Status.CANCELLED.withCause(interrupted).asRuntimeException();
    }
    S stub = stubs.apply(channel);
    if (settings.token().isEmpty()) return stub;
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, Bearer.of(settings.token().get()));
    return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  /** Ends all calls with CLIENT_CLOSED. */
  void end() {
    closing.close();
  }

  /** Closes the connections of a client that has ended. */
  void disconnect() {
    synchronized (connections) {
      connections.values().forEach(Connection::close);
    }
  }

  private Connection connection(Endpoint endpoint) {
    synchronized (connections) {
      if (closing.isClosed()) throw Closing.error();
      return connections.computeIfAbsent(endpoint, added -> new Connection(added.address, settings.tls()));
    }
  }
}
