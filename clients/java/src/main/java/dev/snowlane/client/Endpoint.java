package dev.snowlane.client;

import java.util.Optional;

/** One server and its recent failures. Guarded by its {@link Endpoints}. */
final class Endpoint {

  final EndpointAddress address;
  /** How many lookups in a row did not return its address. Guarded by its {@link Names}. */
  int missedLooks;
  int failuresInRow;
  /** When it is tried again; if that is past, it is up. */
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
