package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * The checked options of an {@link IdClientBuilder}.
 *
 * @param retryMax the most attempts after the first, 0 to 3
 */
record ClientSettings(
    List<EndpointAddress> endpoints,
    ChannelOptions channel,
    Optional<Supplier<String>> token,
    Duration timeout,
    Duration attemptTimeout,
    int retryMax,
    ClientObserver observer,
    List<String> deployments,
    Optional<Layout> layout,
    String namespace,
    ClientClock clock,
    DoubleSupplier random,
    Names.LookUp lookUp) {}
