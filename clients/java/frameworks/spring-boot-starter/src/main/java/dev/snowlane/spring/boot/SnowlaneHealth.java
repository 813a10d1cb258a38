package dev.snowlane.spring.boot;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.ServerInfo;
import dev.snowlane.client.SnowlaneException;
import java.util.Map;

/** The state that a health indicator shows. It asks a server, so it is up if a call would succeed. */
record SnowlaneHealth(IdClient client, PrefetchBuffer buffer) {

  /** The result of that. The details name the server, or say why none answered and which endpoints were tried. */
  record Answer(boolean isUp, Map<String, Object> details) {}

  Answer ask() {
    long stock = buffer.stats().stock();
    try {
      ServerInfo info = client.info();
      return new Answer(
          true,
          Map.of(
              "version", info.version(),
              "deployment", info.deploymentFingerprint(),
              "workerId", info.workerId(),
              "stock", stock));
    } catch (SnowlaneException error) {
      return new Answer(false, Map.of("error", error.toString(), "stock", stock));
    }
  }
}
