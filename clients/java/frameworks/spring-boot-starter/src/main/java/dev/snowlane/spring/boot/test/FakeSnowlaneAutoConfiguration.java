package dev.snowlane.spring.boot.test;

import dev.snowlane.client.IdSource;
import dev.snowlane.client.testing.FakeIdClient;
import dev.snowlane.client.testing.Step;
import dev.snowlane.spring.boot.SnowlaneAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The client of {@link FakeSnowlane}. A test with a script of its own declares a {@code FakeIdClient} as a bean. */
@AutoConfiguration(before = SnowlaneAutoConfiguration.class)
public class FakeSnowlaneAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(IdSource.class)
  FakeIdClient fakeIdClient() {
    return new FakeIdClient(Step.run(1, 1 << 30, 1));
  }
}
