package dev.snowlane.client;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The commands of the interop program that keep a client: docs/internals/client-contract.md has them. */
final class InteropSession {

  /**
   * A client that is open; the buffer is null where it has none.
   *
   * @param paused streams whose reading stops after the first chunk
   */
  private record Session(IdClient client, PrefetchBuffer buffer, List<IdStream> paused) {
    long nextId() {
      return buffer == null ? client.nextId() : buffer.nextId();
    }
  }

  /** How long after its time a {@code take} ends whose calls are late. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Map<String, Session> SESSIONS = new HashMap<>();

  /** The clocks of this machine, of which the wall clock can be stepped. */
  private static final class SteppedClock implements ClientClock {

    private final AtomicLong steppedMs = new AtomicLong();

    @Override
    public long nanos() {
      return ClientClock.system().nanos();
    }

    @Override
    public long nowMs() {
      return ClientClock.system().nowMs() + steppedMs.get();
    }

    @Override
    public OptionalLong uptimeMs() {
      return ClientClock.system().uptimeMs();
    }

    @Override
    public Timer after(long delayNanos, Runnable task) {
      return ClientClock.system().after(delayNanos, task);
    }
  }

  private static final SteppedClock CLOCK = new SteppedClock();

  private InteropSession() {}

  static int number(Map<String, String> keys, String name, int otherwise) {
    return Integer.parseInt(keys.getOrDefault(name, "" + otherwise));
  }

  private static Duration duration(Map<String, String> keys, String name) {
    return Duration.ofMillis(Integer.parseInt(keys.get(name)));
  }

  static Object open(Map<String, String> keys) throws IOException {
    IdClientBuilder builder = IdClient.builder().endpoints(keys.get("endpoints").split(",")).clock(CLOCK);
    if (keys.containsKey("ca")) {
      builder = builder.tls(TlsOptions.DEFAULTS.withRoots(Files.readString(Path.of(keys.get("ca")))));
    }
    if (keys.containsKey("token")) builder = builder.token(keys.get("token"));
    if (keys.containsKey("timeout_ms")) builder = builder.timeout(duration(keys, "timeout_ms"));
    if (keys.containsKey("attempt_timeout_ms")) builder = builder.attemptTimeout(duration(keys, "attempt_timeout_ms"));
    if (keys.containsKey("retry_max")) builder = builder.retryMax(number(keys, "retry_max", 3));
    IdClient client = builder.build();
    PrefetchOptions options = PrefetchOptions.DEFAULTS;
    if (keys.containsKey("outage_ms")) options = options.withOutage(duration(keys, "outage_ms"));
    if (keys.containsKey("max_age_ms")) options = options.withMaxAge(duration(keys, "max_age_ms"));
    boolean isBuffered = keys.getOrDefault("buffer", "0").equals("1");
    SESSIONS.put(keys.get("client"), new Session(client, isBuffered ? client.prefetch(options) : null, new ArrayList<>()));
    return Map.of();
  }

  /** How an error is printed. */
  static Map<String, Object> shown(SnowlaneException error) {
    Map<String, Object> found = new HashMap<>();
    found.put("reason", error.reason());
    found.put("code", error.code());
    found.put("metadata", error.metadata());
    found.put("retryAfterMs", error.retryAfter().map(Duration::toMillis).orElse(null));
    found.put("text", error.toString());
    return found;
  }

  /** Makes calls, one after the other; each result is an ID or an error. */
  static Object call(Map<String, String> keys) {
    Session from = SESSIONS.get(keys.get("client"));
    List<Object> results = new ArrayList<>();
    for (int left = number(keys, "count", 1); left > 0; left--) {
      long startNanos = System.nanoTime();
      Map<String, Object> result = new HashMap<>();
      try {
        result.put("id", "" + from.nextId());
      } catch (SnowlaneException error) {
        result = shown(error);
      }
      result.put("durationMs", milliseconds(System.nanoTime() - startNanos));
      results.add(result);
    }
    return Map.of("results", results);
  }

  private static double milliseconds(long nanos) {
    return nanos / 1e6;
  }

  /** Takes IDs at an even rate, each with the time at which it came; what fails is counted and not made again. */
  static Object take(Map<String, String> keys) throws IOException, InterruptedException {
    Session from = SESSIONS.get(keys.get("client"));
    int perSecond = number(keys, "per_second", 100);
    int seconds = number(keys, "seconds", 1);
    int total = perSecond * seconds;
    Map<ErrorReason, Integer> reasons = new TreeMap<>();
    int count = 0;
    int failures = 0;
    long longestNanos = 0;
    double firstMs = -1;
    long startNanos = System.nanoTime();
    long endNanos = startNanos + TimeUnit.SECONDS.toNanos(seconds) + GRACE_NANOS;
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(keys.get("out")))))) {
      for (int i = 0; i < total && System.nanoTime() < endNanos; i++) {
        TimeUnit.NANOSECONDS.sleep(startNanos + i * 1_000_000_000L / perSecond - System.nanoTime());
        long calledNanos = System.nanoTime();
        try {
          out.writeLong(from.nextId());
          out.writeLong(System.currentTimeMillis());
          count++;
          if (firstMs < 0) firstMs = milliseconds(System.nanoTime() - startNanos);
        } catch (SnowlaneException error) {
          failures++;
          reasons.merge(error.reason(), 1, Integer::sum);
        }
        longestNanos = Math.max(longestNanos, System.nanoTime() - calledNanos);
      }
    }
    return Map.of(
        "count", count,
        "failures", failures,
        "reasons", reasons,
        "waitMaxMs", milliseconds(longestNanos),
        "firstMs", firstMs);
  }

  /** Opens streams, reads the first chunk of each, and no more: they stay open until the client is closed. */
  static Object streams(Map<String, String> keys) {
    Session from = SESSIONS.get(keys.get("client"));
    Map<ErrorReason, Integer> reasons = new TreeMap<>();
    for (int left = number(keys, "count", 1); left > 0; left--) {
      IdStream stream = from.client().stream(1_000_000);
      try {
        stream.next();
        from.paused().add(stream);
      } catch (SnowlaneException error) {
        reasons.merge(error.reason(), 1, Integer::sum);
      }
    }
    int failures = reasons.values().stream().mapToInt(Integer::intValue).sum();
    return Map.of("count", from.paused().size(), "failures", failures, "reasons", reasons);
  }

  static Object stats(Map<String, String> keys) {
    BufferStats found = SESSIONS.get(keys.get("client")).buffer().stats();
    return Map.of(
        "handedOut", found.handedOut(),
        "reserved", found.reserved(),
        "dropped", found.dropped(),
        "waits", found.waits(),
        "stock", found.stock());
  }

  /** Steps the wall clock of all clients. */
  static Object step(Map<String, String> keys) {
    CLOCK.steppedMs.addAndGet(number(keys, "ms", 0));
    return Map.of();
  }

  static Object close(Map<String, String> keys) {
    Session ended = SESSIONS.remove(keys.get("client"));
    ended.paused().forEach(IdStream::close);
    ended.client().close();
    return Map.of();
  }
}
