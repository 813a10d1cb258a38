package dev.snowlane.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.snowlane.client.IdSource;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.testing.FakeIdClient;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

@SpringBootTest(classes = FakeSnowlaneTest.Application.class)
@FakeSnowlane
class FakeSnowlaneTest {

  @Configuration(proxyBeanMethods = false)
  static class Application {}

  @Autowired IdSource source;
  @Autowired PrefetchBuffer buffer;

  @Test
  void aTestOfAnApplicationGetsIdsWithoutAServer() {
    assertThat(source).isInstanceOf(FakeIdClient.class);
    assertThat(buffer.nextId()).isPositive().isNotEqualTo(buffer.nextId());
  }
}
