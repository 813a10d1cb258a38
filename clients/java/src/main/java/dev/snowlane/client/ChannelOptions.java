package dev.snowlane.client;

import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * How each connection is made.
 *
 * @param tls returns the certificates for a new connection; it may be called from any thread
 * @param hook gets the builder of each channel, before the client sets its own options
 */
record ChannelOptions(
    Supplier<TlsOptions> tls, List<ClientInterceptor> interceptors, Consumer<ManagedChannelBuilder<?>> hook) {

  static final ChannelOptions DEFAULTS = new ChannelOptions(() -> TlsOptions.DEFAULTS, List.of(), builder -> {});
}
