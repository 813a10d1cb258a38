package dev.snowlane.spring.boot.test;

import dev.snowlane.spring.boot.SnowlaneAutoConfiguration;
import dev.snowlane.spring.boot.SnowlaneHibernateAutoConfiguration;
import dev.snowlane.spring.boot.SnowlaneMybatisPlusAutoConfiguration;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * On a test class, such as one of {@code @DataJpaTest} or {@code @SpringBootTest}: IDs come from a {@code FakeIdClient}
 * and no server is needed. They are 1 to 2^30, each once.
 */
@ImportAutoConfiguration({
  FakeSnowlaneAutoConfiguration.class,
  SnowlaneAutoConfiguration.class,
  SnowlaneHibernateAutoConfiguration.class,
  SnowlaneMybatisPlusAutoConfiguration.class
})
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface FakeSnowlane {}
