package dev.snowlane.spring.boot;

import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.hibernate.SnowlaneIds;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.orm.jpa.AbstractEntityManagerFactoryBean;

/** Hands the shared buffer to Hibernate, for {@code @SnowlaneId}. */
@AutoConfiguration(after = SnowlaneAutoConfiguration.class)
@ConditionalOnClass({SnowlaneIds.class, AbstractEntityManagerFactoryBean.class})
@ConditionalOnBean(PrefetchBuffer.class)
public class SnowlaneHibernateAutoConfiguration {

  /** Works on the factory of Spring itself, because Boot 3 and 4 have different hooks for its settings. */
  @Bean
  static BeanPostProcessor snowlaneIdsOfHibernate(ObjectProvider<PrefetchBuffer> buffer) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessBeforeInitialization(Object bean, String name) {
        if (bean instanceof AbstractEntityManagerFactoryBean factory)
          factory.getJpaPropertyMap().putIfAbsent(SnowlaneIds.BUFFER, buffer.getObject());
        return bean;
      }
    };
  }
}
