package dev.snowlane.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import dev.snowlane.client.ClientObserver.AttemptEvent;
import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.IdClient;
import dev.snowlane.client.IdSource;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.testing.FakeIdClient;
import dev.snowlane.client.testing.Step;
import dev.snowlane.hibernate.SnowlaneIds;
import dev.snowlane.mybatisplus.SnowlaneIdentifierGenerator;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;

class SnowlaneAutoConfigurationTest {

  private static final String HEALTH = "snowlaneHealthIndicator";

  /** Without the health indicators of the other line of Boot, which the module is compiled with, too. */
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withClassLoader(
              new FilteredClassLoader(
                  SpringBootVersion.getVersion().startsWith("3.")
                      ? "org.springframework.boot.health"
                      : "org.springframework.boot.actuate.health"))
          .withConfiguration(
              AutoConfigurations.of(
                  SnowlaneAutoConfiguration.class,
                  SnowlaneBoot3HealthAutoConfiguration.class,
                  SnowlaneHealthAutoConfiguration.class,
                  SnowlaneHibernateAutoConfiguration.class,
                  SnowlaneMetersAutoConfiguration.class,
                  SnowlaneMybatisPlusAutoConfiguration.class));

  private final ApplicationContextRunner withFake = runner.withUserConfiguration(Script.class);

  @Configuration(proxyBeanMethods = false)
  static class Script {
    @Bean
    FakeIdClient fake() {
      return new FakeIdClient(Step.run(100, 1_000, 1));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class LastRequest {
    private final List<Long> ids = new ArrayList<>();

    /** As a web server, which serves its last requests while it stops. */
    @Bean
    SmartLifecycle server(PrefetchBuffer buffer) {
      return new SmartLifecycle() {
        private boolean isRunning;

        @Override
        public void start() {
          isRunning = true;
        }

        @Override
        public void stop() {
          isRunning = false;
          ids.add(buffer.nextId());
        }

        @Override
        public boolean isRunning() {
          return isRunning;
        }
      };
    }
  }

  @Test
  void thereIsOneClientWithOneBufferAndNoConnection() {
    runner.run(
        context -> {
          assertThat(context).hasSingleBean(IdClient.class).hasSingleBean(PrefetchBuffer.class);
          assertThat(context.getBean(PrefetchBuffer.class).stats().refills()).isZero();
        });
  }

  @Test
  void allThatIsWrongWithThePropertiesIsNamedAtTheStart() {
    runner
        .withPropertyValues("snowlane.endpoints=http://a:1,ftp://b", "snowlane.retry-max=9", "snowlane.timeout=0s")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("ftp://b")
                    .hasMessageContaining("retryMax is 9; it must be 0 to 3.")
                    .hasMessageContaining("timeout is PT0S; it must be positive."));
  }

  @Test
  void thePropertiesOfTheBufferAreItsOptions() {
    runner
        .withPropertyValues("snowlane.buffer.outage=10m", "snowlane.buffer.count-min=100", "snowlane.buffer.timeout=7s")
        .run(
            context -> {
              var options = context.getBean(SnowlaneProperties.class).buffer().options();
              assertThat(options.outage()).contains(Duration.ofMinutes(10));
              assertThat(options.maxAge()).isEqualTo(Duration.ofMinutes(20));
              assertThat(options.countMin()).isEqualTo(100);
              assertThat(options.timeout()).contains(Duration.ofSeconds(7));
            });
  }

  @Test
  void aTokenIsShownNowhere() {
    runner
        .withPropertyValues("snowlane.token=secret")
        .run(context -> assertThat(context.getBean(SnowlaneProperties.class).toString()).doesNotContain("secret"));
  }

  @Test
  void aCustomizerChangesTheClientBeforeItIsMade() {
    runner
        .withBean(IdClientCustomizer.class, () -> builder -> builder.retryMax(7))
        .run(context -> assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("retryMax is 7"));
  }

  @Test
  void aSourceOfTheApplicationTakesThePlaceOfTheClient() {
    withFake.run(
        context -> {
          assertThat(context).doesNotHaveBean(IdClient.class).hasSingleBean(IdSource.class);
          assertThat(context).doesNotHaveBean(HEALTH);
          assertThat(context.getBean(PrefetchBuffer.class).nextId()).isBetween(100L, 1_099L);
        });
  }

  @Test
  void aRequestThatIsServedWhileTheApplicationStopsGetsAnIdAndAfterItNobody() {
    List<Long> last = new ArrayList<>();
    PrefetchBuffer[] buffer = new PrefetchBuffer[1];
    withFake
        .withUserConfiguration(LastRequest.class)
        .run(
            context -> {
              buffer[0] = context.getBean(PrefetchBuffer.class);
              LastRequest requests = context.getBean(LastRequest.class);
              context.getSourceApplicationContext().close();
              last.addAll(requests.ids);
            });
    assertThat(last).hasSize(1);
    assertThatThrownBy(() -> buffer[0].nextId())
        .isInstanceOfSatisfying(
            SnowlaneException.class, error -> assertThat(error.reason()).isEqualTo(ErrorReason.CLIENT_CLOSED));
  }

  @Test
  void hibernateGetsTheSharedBuffer() {
    withFake.run(
        context -> {
          var factory = new LocalContainerEntityManagerFactoryBean();
          var hook = context.getBean("snowlaneIdsOfHibernate", BeanPostProcessor.class);
          hook.postProcessBeforeInitialization(factory, "entities");
          assertThat(factory.getJpaPropertyMap())
              .containsEntry(SnowlaneIds.BUFFER, context.getBean(PrefetchBuffer.class));
        });
  }

  @Test
  void myBatisPlusGetsItsGeneratorUnlessThereIsAnother() {
    withFake.run(
        context -> assertThat(context).getBean(IdentifierGenerator.class).isInstanceOf(SnowlaneIdentifierGenerator.class));
    IdentifierGenerator own = entity -> 7L;
    withFake
        .withBean(IdentifierGenerator.class, () -> own)
        .run(context -> assertThat(context).getBean(IdentifierGenerator.class).isSameAs(own));
  }

  @Test
  void metersCountWhatTheBufferAndTheClientDo() {
    withFake.run(
        context -> {
          SimpleMeterRegistry registry = new SimpleMeterRegistry();
          SnowlaneMeters meters = context.getBean(SnowlaneMeters.class);
          meters.bindTo(registry);
          context.getBean(PrefetchBuffer.class).nextId();
          var handedOut = registry.get("snowlane.client.ids").tag("result", "handed_out").functionCounter();
          assertThat(handedOut.count()).isEqualTo(1);
          assertThat(registry.get("snowlane.client.stock").gauge().value()).isPositive();
        });
  }

  @Test
  void metersHearOfTheAttemptsOfTheClient() {
    runner
        .withPropertyValues("snowlane.endpoints=http://127.0.0.1:1", "snowlane.timeout=60s")
        .run(
            context -> {
              SimpleMeterRegistry registry = new SimpleMeterRegistry();
              context.getBean(SnowlaneMeters.class).bindTo(registry);
              assertThatThrownBy(() -> context.getBean(IdClient.class).nextId()).isInstanceOf(SnowlaneException.class);
              assertThat(registry.get("snowlane.client.attempts").tag("method", "NextId").timers()).isNotEmpty();
            });
  }

  @Test
  void metersTellTheSecondRequestOfARefillFromTheFirst() {
    withFake.run(
        context -> {
          SimpleMeterRegistry registry = new SimpleMeterRegistry();
          SnowlaneMeters meters = context.getBean(SnowlaneMeters.class);
          meters.bindTo(registry);
          for (boolean isHedge : List.of(false, true, true))
            meters.onAttempt(
                new AttemptEvent("ReserveIds", "http://a", 1, isHedge, Duration.ofMillis(1), Optional.empty()));
          var attempts = registry.get("snowlane.client.attempts");
          assertThat(attempts.tag("hedge", "false").timer().count()).isEqualTo(1);
          assertThat(registry.get("snowlane.client.attempts").tag("hedge", "true").timer().count()).isEqualTo(2);
        });
  }

  @Test
  void whereNoServerAnswersHealthIsDownWithTheReason() {
    runner
        .withPropertyValues("snowlane.endpoints=http://127.0.0.1:1", "snowlane.timeout=60s")
        .run(
            context -> {
              Object indicator = context.getBean(HEALTH);
              Method ask = indicator.getClass().getMethod("health");
              ask.setAccessible(true);
              assertThat(ask.invoke(indicator).toString()).contains("DOWN").contains("(http://127.0.0.1:1)").contains("stock=0");
            });
  }

  @Test
  void theHealthIndicatorCanBeSwitchedOffByTheUsualProperties() {
    for (String name : List.of("snowlane", "defaults"))
      runner
          .withPropertyValues("management.health." + name + ".enabled=false")
          .run(context -> assertThat(context).doesNotHaveBean(HEALTH));
  }

  @Test
  void eachPropertyHasADescriptionForEditors() throws Exception {
    String metadata;
    try (InputStream file = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
      metadata = new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
    String properties = metadata.substring(metadata.indexOf("\"properties\""));
    var names = Pattern.compile("\"name\": \"(snowlane[\\w.-]+)\"(?s)([^}]*)").matcher(properties);
    List<String> bare = new ArrayList<>();
    int count = 0;
    for (; names.find(); count++) if (!names.group(2).contains("\"description\"")) bare.add(names.group(1));
    assertThat(bare).isEmpty();
    assertThat(count).isGreaterThanOrEqualTo(17);
  }
}
