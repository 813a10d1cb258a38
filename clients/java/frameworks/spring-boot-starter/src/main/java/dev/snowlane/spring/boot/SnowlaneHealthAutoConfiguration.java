package dev.snowlane.spring.boot;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.PrefetchBuffer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health indicator {@code snowlane} of Boot 4. */
@AutoConfiguration(after = SnowlaneAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnExpression("${management.health.snowlane.enabled:${management.health.defaults.enabled:true}}")
@ConditionalOnBean(IdClient.class)
public class SnowlaneHealthAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = "snowlaneHealthIndicator")
  HealthIndicator snowlaneHealthIndicator(IdClient client, PrefetchBuffer buffer) {
    SnowlaneHealth health = new SnowlaneHealth(client, buffer);
    return () -> {
      SnowlaneHealth.Answer answer = health.ask();
      return (answer.isUp() ? Health.up() : Health.down()).withDetails(answer.details()).build();
    };
  }
}
