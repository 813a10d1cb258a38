package dev.snowlane.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Tests of a client with a server that follows a script. */
@Timeout(180)
abstract class ScriptedServerTest {

  private final List<AutoCloseable> opened = new ArrayList<>();
  final ScriptedServer server = opened(new ScriptedServer());

  @AfterEach
  void close() throws Exception {
    // The clients first: they were opened last.
    for (int i = opened.size() - 1; i >= 0; i--) opened.get(i).close();
  }

  <T extends AutoCloseable> T opened(T resource) {
    opened.add(resource);
    return resource;
  }

  /** Patient, so that only the tests of time are about time. */
  static IdClientBuilder patient() {
    return IdClient.builder().timeout(Duration.ofSeconds(60)).attemptTimeout(Duration.ofSeconds(30));
  }

  IdClient connect(IdClientBuilder builder, ScriptedServer... servers) {
    String[] urls = Arrays.stream(servers).map(ScriptedServer::url).toArray(String[]::new);
    return opened(builder.endpoints(urls).build());
  }

  IdClient connect() {
    return connect(patient(), server);
  }

  static SnowlaneException expect(ErrorReason reason, Executable call) {
    SnowlaneException error = assertThrows(SnowlaneException.class, call);
    assertEquals(reason, error.reason(), error::toString);
    return error;
  }

  static void until(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) Thread.sleep(1);
  }

  static long[] collect(IdClient client, long count, StreamOptions options) {
    List<long[]> chunks = new ArrayList<>();
    try (IdStream stream = client.stream(count, options)) {
      for (long[] ids : stream) chunks.add(ids);
    }
    return chunks.stream().flatMapToLong(Arrays::stream).toArray();
  }
}
