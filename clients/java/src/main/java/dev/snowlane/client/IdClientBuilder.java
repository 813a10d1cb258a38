package dev.snowlane.client;

import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannelBuilder;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Sets the options of an {@link IdClient}, and makes it. {@link IdClient#builder()} returns one. */
public final class IdClientBuilder {

  private static final int RETRY_MOST = 3;
  private static final Pattern FINGERPRINT = Pattern.compile("[0-9a-fA-F]{8,32}");

  private List<String> endpoints = List.of("http://127.0.0.1:7609");
  private Supplier<TlsOptions> tls = () -> TlsOptions.DEFAULTS;
  private List<ClientInterceptor> interceptors = List.of();
  private Consumer<ManagedChannelBuilder<?>> channelHook = builder -> {};
  private Optional<Supplier<String>> token = Optional.empty();
  private boolean isTokenInsecure;
  private Duration timeout = Duration.ofSeconds(5);
  private Duration attemptTimeout = Duration.ofSeconds(2);
  private int retryMax = RETRY_MOST;
  private List<String> deployments = List.of();
  private ClientObserver observer = ClientObserver.NONE;
  private Optional<Layout> layout = Optional.empty();
  private String namespace = "default";
  private ClientClock clock = ClientClock.system();
  private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

  private Names.LookUp lookUp = InetAddress::getAllByName;

  IdClientBuilder() {}

  /**
   * One or more of {@code http://HOST:PORT} (plaintext), {@code https://HOST:PORT} (TLS) and {@code unix:/PATH} (a
   * socket of this machine, under Linux on x64). A name with several addresses counts as that many endpoints. All must
   * serve one deployment. Default: {@code http://127.0.0.1:7609}.
   */
  public IdClientBuilder endpoints(String... values) {
    for (String value : values) Objects.requireNonNull(value, "endpoints");
    endpoints = List.of(values);
    return this;
  }

  /** The roots to trust, and this client's own certificate. Default: the system's roots, and no certificate. */
  public IdClientBuilder tls(TlsOptions value) {
    Objects.requireNonNull(value, "tls");
    return tls(() -> value);
  }

  /**
   * Called for the TLS options of each new connection, so that certificates may change. It may be called from any
   * thread.
   */
  public IdClientBuilder tls(Supplier<TlsOptions> value) {
    tls = Objects.requireNonNull(value, "tls");
    return this;
  }

  /** Interceptors for each call, such as OpenTelemetry's, which passes on the caller's trace. Default: none. */
  public IdClientBuilder interceptors(ClientInterceptor... values) {
    interceptors = List.of(values);
    return this;
  }

  /**
   * Gets the builder of each channel, for gRPC settings that have no option here. Where both set something, such as
   * retries, authority or user agent, the client wins.
   */
  public IdClientBuilder channel(Consumer<ManagedChannelBuilder<?>> value) {
    channelHook = Objects.requireNonNull(value, "channel");
    return this;
  }

  /** A bearer token that never changes. White space around it is dropped. Default: none. */
  public IdClientBuilder token(String value) {
    Objects.requireNonNull(value, "token");
    return token(() -> value);
  }

  /** Returns the bearer token for each attempt. It may be called from several threads at once. */
  public IdClientBuilder token(Supplier<String> value) {
    token = Optional.of(Objects.requireNonNull(value, "token"));
    return this;
  }

  /** Allows the token to be sent over plaintext to hosts that are not loopback. Default: it is refused. */
  public IdClientBuilder insecureToken() {
    isTokenInsecure = true;
    return this;
  }

  /** The deadline of a call whose caller sets none; it covers all attempts and waits. Default: 5 s. */
  public IdClientBuilder timeout(Duration value) {
    timeout = Objects.requireNonNull(value, "timeout");
    return this;
  }

  /** The longest that one attempt may take. Default: 2 s. */
  public IdClientBuilder attemptTimeout(Duration value) {
    attemptTimeout = Objects.requireNonNull(value, "attemptTimeout");
    return this;
  }

  /** The most attempts after the first, 0 to 3. Default: 3. */
  public IdClientBuilder retryMax(int value) {
    retryMax = value;
    return this;
  }

  /** The metrics hook, of the client and of its buffers. */
  public IdClientBuilder observer(ClientObserver value) {
    observer = Objects.requireNonNull(value, "observer");
    return this;
  }

  /**
   * The deployments whose IDs may be used, by their fingerprints as {@code snowlane doctor} shows them. List several
   * only if the operator makes sure that their IDs differ, as for namespaces or a move. Default: the first that
   * answers.
   */
  public IdClientBuilder deployments(String... fingerprints) {
    deployments = List.of(fingerprints);
    return this;
  }

  /** The deployment's layout, for offline work. Default: a server is asked for it once. */
  public IdClientBuilder layout(Layout value) {
    layout = Optional.of(value);
    return this;
  }

  /** The namespace that marks the deployment's UUIDs. Default: {@code default}. */
  public IdClientBuilder namespace(String value) {
    namespace = Objects.requireNonNull(value, "namespace");
    return this;
  }

  /** The clock of waits and of buffers; for tests. */
  public IdClientBuilder clock(ClientClock value) {
    clock = Objects.requireNonNull(value, "clock");
    return this;
  }

  /** The source of random numbers from 0 to below 1, called from any thread; for tests. */
  IdClientBuilder random(DoubleSupplier value) {
    random = value;
    return this;
  }

  /** Looks up the addresses of a host; for tests. */
  IdClientBuilder lookUp(Names.LookUp value) {
    lookUp = value;
    return this;
  }

  /**
   * Makes the client. Connections are opened when they are first needed.
   *
   * @throws IllegalArgumentException if an option is wrong; its message names every one that is
   */
  public IdClient build() {
    List<String> faults = new ArrayList<>();
    List<EndpointAddress> addresses = new ArrayList<>();
    if (endpoints.isEmpty()) faults.add("There is no endpoint: give at least one.");
    for (String url : endpoints) {
      try {
        addresses.add(readEndpoint(url));
      } catch (IllegalArgumentException wrong) {
        faults.add(wrong.getMessage());
      }
    }
    refuseUnlessPositive("timeout", timeout, faults);
    refuseUnlessPositive("attemptTimeout", attemptTimeout, faults);
    if (retryMax < 0 || retryMax > RETRY_MOST) faults.add("retryMax is " + retryMax + "; it must be 0 to 3.");
    for (String fingerprint : deployments) {
      if (!FINGERPRINT.matcher(fingerprint).matches()) {
        faults.add("The deployment \"" + fingerprint + "\" is not 8 to 32 hexadecimal digits.");
      }
    }
    if (!faults.isEmpty()) throw new IllegalArgumentException(String.join(" ", faults));
    return new IdClient(
        new ClientSettings(
            List.copyOf(addresses),
            new ChannelOptions(tls, interceptors, channelHook),
            token,
            timeout,
            attemptTimeout,
            retryMax,
            observer,
            deployments,
            layout,
            namespace,
            clock,
            random,
            lookUp));
  }

  private EndpointAddress readEndpoint(String url) {
    EndpointAddress address = EndpointAddress.read(url);
    refuseUnlessTlsReadable(address);
    if (token.isEmpty() || address.isTls() || isTokenInsecure || address.isLoopback()) return address;
    String message = "A token would go to " + url + " in plaintext: use https, or call insecureToken().";
    throw new IllegalArgumentException(message);
  }

  private void refuseUnlessTlsReadable(EndpointAddress address) {
    if (!address.isTls()) return;
    try {
      Connection.channelTo(address, tls.get());
    } catch (RuntimeException unreadable) {
      // Not as the cause: its message might show the key.
      throw new IllegalArgumentException("The TLS options are not certificates and a key as PEM.");
    }
  }

  private static void refuseUnlessPositive(String name, Duration value, List<String> faults) {
    if (value.isNegative() || value.isZero()) faults.add(name + " is " + value + "; it must be positive.");
  }
}
