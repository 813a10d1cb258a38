package dev.snowlane.spring.boot;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.mybatisplus.SnowlaneIdentifierGenerator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Makes Snowlane the generator of MyBatis-Plus, which takes the bean of this type. */
@AutoConfiguration(after = SnowlaneAutoConfiguration.class)
@ConditionalOnClass({SnowlaneIdentifierGenerator.class, IdentifierGenerator.class})
@ConditionalOnBean(PrefetchBuffer.class)
public class SnowlaneMybatisPlusAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(IdentifierGenerator.class)
  SnowlaneIdentifierGenerator snowlaneIdentifierGenerator(PrefetchBuffer buffer) {
    return new SnowlaneIdentifierGenerator(buffer);
  }
}
