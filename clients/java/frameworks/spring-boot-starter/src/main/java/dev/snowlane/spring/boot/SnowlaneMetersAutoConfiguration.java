package dev.snowlane.spring.boot;

import dev.snowlane.client.PrefetchBuffer;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Meters, where Micrometer is there. Boot binds the bean to each registry. */
@AutoConfiguration(after = SnowlaneAutoConfiguration.class)
@ConditionalOnClass(MeterBinder.class)
@ConditionalOnBean(PrefetchBuffer.class)
public class SnowlaneMetersAutoConfiguration {

  @Bean
  SnowlaneMeters snowlaneMeters(ObjectProvider<PrefetchBuffer> buffer) {
    return new SnowlaneMeters(buffer::getObject);
  }
}
