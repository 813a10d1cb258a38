package dev.snowlane.mybatisplus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.testing.FakeIdClient;
import dev.snowlane.client.testing.Step;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SnowlaneIdentifierGeneratorTest {

  @Test
  void idsAreThoseOfTheBuffer() {
    try (FakeIdClient client = new FakeIdClient(Step.run(7, 100, 1))) {
      var generator = new SnowlaneIdentifierGenerator(client.prefetch());
      Set<Number> ids = new HashSet<>();
      for (int i = 0; i < 100; i++) ids.add(generator.nextId(new Object()));
      assertEquals(100, ids.size());
      assertEquals(Set.of(Long.class), Set.copyOf(ids.stream().map(Object::getClass).toList()));
    }
  }

  @Test
  void withoutAnIdThereIsAnErrorAndNoGuess() {
    try (FakeIdClient client = new FakeIdClient(Step.fail(ErrorReason.METHOD_DENIED))) {
      var generator = new SnowlaneIdentifierGenerator(client.prefetch());
      var error = assertThrows(SnowlaneException.class, () -> generator.nextId(new Object()));
      assertEquals(ErrorReason.METHOD_DENIED, error.reason());
    }
  }
}
