package dev.snowlane.spring.boot;

import dev.snowlane.client.ClientObserver;
import dev.snowlane.client.IdClient;
import dev.snowlane.client.IdClientBuilder;
import dev.snowlane.client.IdSource;
import dev.snowlane.client.PrefetchBuffer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * One client and one buffer for the whole application, closed with the context. By then the web server has ended its
 * requests, so a request that is served while the application stops still gets its ID.
 */
@AutoConfiguration
@EnableConfigurationProperties(SnowlaneProperties.class)
public class SnowlaneAutoConfiguration {

  /** Opens no connection. A bean of your own, or a {@code FakeIdClient}, takes its place. */
  @Bean
  @ConditionalOnMissingBean(IdSource.class)
  IdClient snowlaneIdClient(
      SnowlaneProperties properties,
      ObjectProvider<ClientObserver> observers,
      ObjectProvider<IdClientCustomizer> customizers) {
    IdClientBuilder builder =
        IdClient.builder()
            .endpoints(properties.endpoints().toArray(String[]::new))
            .tls(() -> TlsFiles.read(properties.tls()))
            .timeout(properties.timeout())
            .attemptTimeout(properties.attemptTimeout())
            .retryMax(properties.retryMax())
            .deployments(properties.deployments().toArray(String[]::new))
            .namespace(properties.namespace())
            .observer(new ObserverList(observers.orderedStream().toList()));
    if (properties.token() != null) builder.token(properties.token());
    if (properties.insecureToken()) builder.insecureToken();
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder.build();
  }

  /** The buffer that the whole application shares. */
  @Bean
  @ConditionalOnMissingBean
  PrefetchBuffer snowlaneBuffer(IdSource source, SnowlaneProperties properties) {
    return source.prefetch(properties.buffer().options());
  }
}
