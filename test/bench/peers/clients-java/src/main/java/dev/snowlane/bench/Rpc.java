package dev.snowlane.bench;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.IdStream;
import dev.snowlane.client.StreamOptions;
import java.time.Duration;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** The cost of an ID that comes from a server: one RPC for each, and many at a time. */
public class Rpc {

  @State(Scope.Benchmark)
  public static class Server {
    private IdClient client;

    @Setup
    public void open() {
      client = IdClient.builder().endpoints(System.getenv("SNOWLANE_URL")).timeout(Duration.ofMinutes(1)).build();
    }

    @TearDown
    public void close() {
      client.close();
    }
  }

  @Benchmark
  public long rpc(Server server) {
    return server.client.nextId();
  }

  /** 100,000 IDs. */
  @Benchmark
  public long[] serverArray(Server server) {
    return server.client.nextIds(100_000);
  }

  /** 1,000,000 IDs. */
  @Benchmark
  public void serverStream(Server server, Blackhole sink) {
    try (IdStream stream = server.client.stream(1_000_000, StreamOptions.DEFAULTS)) {
      for (long[] ids : stream) sink.consume(ids);
    }
  }
}
