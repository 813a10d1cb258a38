package dev.snowlane.client;

import io.grpc.ChannelCredentials;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A channel to one endpoint. It connects when it is first used, and again when an attempt asks for it. */
final class Connection {

  /** How long an attempt waits for a lost connection to come back, before the attempt counts as failed. */
  private static final long RECONNECT_WAIT_MS = 100;

  private static final long KEEP_ALIVE_TIME_S = 30;
  private static final long KEEP_ALIVE_TIMEOUT_S = 5;

  private final EndpointAddress address;
  private final ChannelOptions options;

  /** The TLS options that it was made with. */
  private final TlsOptions tls;

  private final ManagedChannel channel;

  // These fields belong to the Connections object that made it, which guards them.
  long openedNanos;
  int callCount;
  boolean hasAnswered;
  /**
   * Whether it owes an answer, since {@link #silentSinceNanos}: the time of the first request after the last answer.
   */
  boolean isSilent;

  long silentSinceNanos;

  /** Whether it was open, so that its loss will be noticed. */
  boolean isWatched;

  /** Whether its endpoint has another now. It gets no more calls. */
  boolean isReplaced;

  /** Whether it was opened beside the one in use, for one RPC. */
  boolean isSecond;

  /** Counted down when the channel leaves the failure state; null: no call waits for that. */
  private CountDownLatch recovery;

  Connection(EndpointAddress address, ChannelOptions options) {
    this.address = address;
    this.options = options;
    this.tls = options.tls().get();
    ManagedChannelBuilder<?> builder = channelTo(address, tls);
    options.hook().accept(builder);
    // The client's settings take precedence over those of the hook.
    address.authority().ifPresent(builder::overrideAuthority);
    // Whether to use a proxy was decided by the name, and there is none.
    if (address.ip().isPresent()) builder.proxyDetector(server -> null);
    this.channel =
        builder
            .intercept(options.interceptors())
            .userAgent("snowlane-java/" + ClientVersion.VERSION)
            .disableRetry()
            .disableServiceConfigLookUp()
            .keepAliveTime(KEEP_ALIVE_TIME_S, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEP_ALIVE_TIMEOUT_S, TimeUnit.SECONDS)
            .build();
  }

  /**
   * Opens nothing, and reads the TLS options.
   *
   * @throws IllegalArgumentException if they are not PEM
   */
  static ManagedChannelBuilder<?> channelTo(EndpointAddress address, TlsOptions tls) {
    ChannelCredentials credentials = address.isTls() ? tls.credentials() : InsecureChannelCredentials.create();
    return Grpc.newChannelBuilder(address.target(), credentials);
  }

  /**
   * The channel, ready or connecting. If it has failed it tries again now: the endpoints, not the channel, decide when
   * to try.
   */
  ManagedChannel channel() throws InterruptedException {
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      CountDownLatch recovered = watchRecovery();
      channel.resetConnectBackoff();
      recovered.await(RECONNECT_WAIT_MS, TimeUnit.MILLISECONDS);
    }
    return channel;
  }

  /** Whether a new channel is needed: this one has to connect again, and the certificates have changed. */
  boolean isOutdated() {
    if (!address.isTls() || isReady()) return false;
    return !options.tls().get().equals(tls);
  }

  boolean isReady() {
    return channel.getState(false) == ConnectivityState.READY;
  }

  /** Runs a task when it is no longer ready, on a thread of the channel. */
  void whenLost(Runnable work) {
    channel.notifyWhenStateChanged(ConnectivityState.READY, work);
  }

  void close() {
    channel.shutdownNow();
  }

  boolean isClosed() {
    return channel.isShutdown();
  }

  /** All waiting calls share one watch, because a channel never forgets a watch. */
  private synchronized CountDownLatch watchRecovery() {
    if (recovery != null) return recovery;
    CountDownLatch begun = new CountDownLatch(1);
    recovery = begun;
    channel.notifyWhenStateChanged(ConnectivityState.TRANSIENT_FAILURE, this::recovered);
    return begun;
  }

  private synchronized void recovered() {
    recovery.countDown();
    recovery = null;
  }
}
