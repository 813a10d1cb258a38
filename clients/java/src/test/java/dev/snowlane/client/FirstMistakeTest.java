package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class FirstMistakeTest {

  @ParameterizedTest
  @ValueSource(strings = {"http://127.0.0.1:1", "http://nosuch.invalid:7609", "http://127.0.0.1:1 http://localhost:2"})
  void whereNoServerEverAnsweredCallsFailBeforeTheirDeadlineAndSayWhatToStart(String endpoints) {
    try (IdClient client = IdClient.builder().endpoints(endpoints.split(" ")).timeout(Duration.ofHours(1)).build();
        PrefetchBuffer buffer = client.prefetch(PrefetchOptions.DEFAULTS)) {
      for (Executable call : List.<Executable>of(client::nextId, buffer::nextId, client::nextId, buffer::nextId)) {
        SnowlaneException error = assertThrows(SnowlaneException.class, call);
        assertTrue(error.toString().matches("UNREACHABLE: The .*snowlane serve.* \\(http:.*\\)"), error.toString());
        assertEquals("never", error.metadata().get("answered"));
      }
    }
  }

  @Test
  void afterTheFirstAnswerACallWaitsForTheServerAsEver() throws Exception {
    ScriptedServer server = new ScriptedServer();
    try (IdClient client = IdClient.builder().endpoints(server.url()).build()) {
      client.nextId();
      server.close();
      SnowlaneException error = assertThrows(SnowlaneException.class, client::nextId);
      assertFalse(error.metadata().containsKey("answered"), error.toString());
    }
  }

  @Test
  void aCountThatIsTooLargeNamesStream() {
    try (IdClient client = IdClient.builder().endpoints("http://127.0.0.1:1").build()) {
      SnowlaneException tooLarge = assertThrows(SnowlaneException.class, () -> client.nextIds(1_048_577));
      assertTrue(tooLarge.getMessage().contains("stream()"), tooLarge.toString());
      SnowlaneException tooSmall = assertThrows(SnowlaneException.class, () -> client.nextIds(0));
      assertFalse(tooSmall.getMessage().contains("stream()"), tooSmall.toString());
    }
  }
}
