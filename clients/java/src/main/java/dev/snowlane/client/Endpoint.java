package dev.snowlane.client;

import java.util.Optional;

/** One server, and how it has been doing. Guarded by its {@link Endpoints}. */
final class Endpoint {

  final EndpointAddress address;
  /** Looks in a row that did not find its address. Guarded by its {@link Names}. */
  int missedLooks;
  int failuresInRow;
  /** In the past: it is up. */
  long downUntilNanos;
  Optional<SnowlaneException> lastFailure = Optional.empty();

  Endpoint(EndpointAddress address, long nowNanos) {
    this.address = address;
    this.downUntilNanos = nowNanos;
  }

  String url() {
    return address.url();
  }
}
