package dev.snowlane.client;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;

/** What test/interop starts: docs/internals/client-contract.md has its commands. */
public final class InteropProgram {

  private static final Gson JSON = new GsonBuilder().serializeNulls().create();

  private InteropProgram() {}

  /** Runs the command that the first argument names, with {@code key=value} in the others. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> keys = new HashMap<>();
    for (String pair : Arrays.asList(arguments).subList(1, arguments.length)) {
      int end = pair.indexOf('=');
      keys.put(pair.substring(0, end), pair.substring(end + 1));
    }
    Object result =
        switch (arguments[0]) {
          case "issue" -> issue(keys);
          case "outage" -> outage(keys);
          case "parse" -> parse(keys);
          case "errors" -> collectErrors(keys);
          case "sequence" -> InteropSequence.run(keys);
          default -> throw new IllegalArgumentException("There is no command " + arguments[0] + ".");
        };
    System.out.println(JSON.toJson(result));
  }

  private static int number(Map<String, String> keys, String name, int otherwise) {
    return Integer.parseInt(keys.getOrDefault(name, "" + otherwise));
  }

  private static IdClientBuilder builder(Map<String, String> keys) {
    IdClientBuilder builder = IdClient.builder().endpoints(keys.get("endpoints").split(","));
    return keys.containsKey("token") ? builder.token(keys.get("token")) : builder;
  }

  private static Object issue(Map<String, String> keys) throws Exception {
    Duration timeout = Duration.ofMillis(number(keys, "timeout_ms", 5_000));
    try (IdClient client = builder(keys).timeout(timeout).build();
        OutputStream file = Files.newOutputStream(Path.of(keys.get("out")));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(file, 1 << 20))) {
      int count = number(keys, "count", 1);
      Issuing issuing = new Issuing(out, count);
      issuing.choose(client, keys);
      issuing.run(number(keys, "callers", 1));
      return Map.of("count", count, "failures", issuing.failures, "reasons", issuing.reasons);
    }
  }

  private static Object outage(Map<String, String> keys) throws Exception {
    Duration outage = Duration.ofMillis(number(keys, "outage_ms", 0));
    try (IdClient client = IdClient.builder().endpoints(keys.get("endpoints").split(",")).build();
        PrefetchBuffer buffer = client.prefetch(PrefetchOptions.DEFAULTS.withOutage(outage));
        OutputStream file = Files.newOutputStream(Path.of(keys.get("out")));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(file, 1 << 20))) {
      long startNanos = System.nanoTime();
      int count = 0;
      int failures = 0;
      for (int step = 1; step <= number(keys, "seconds", 1) * 100; step++) {
        for (int taken = 0; taken < number(keys, "per_second", 100) / 100; taken++) {
          try {
            out.writeLong(buffer.nextId());
            count++;
          } catch (SnowlaneException error) {
            failures++;
          }
        }
        TimeUnit.NANOSECONDS.sleep(startNanos + TimeUnit.MILLISECONDS.toNanos(step * 10L) - System.nanoTime());
      }
      return Map.of("count", count, "failures", failures, "waits", buffer.stats().waits());
    }
  }

  /** What the callers of one issue share. */
  private static final class Issuing {

    private final DataOutputStream out;
    private final AtomicLong left;
    private final AtomicLong succeededNanos = new AtomicLong(System.nanoTime());
    private final AtomicReference<Exception> fault = new AtomicReference<>();
    private IntFunction<long[]> take;
    /** How many IDs a caller takes at once. */
    private int chunk = 1;

    // Guarded by this.
    private long failures;
    private final Map<ErrorReason, Integer> reasons = new TreeMap<>();

    Issuing(DataOutputStream out, int count) {
      this.out = out;
      this.left = new AtomicLong(count);
    }

    void choose(IdClient client, Map<String, String> keys) {
      switch (keys.get("mode")) {
        case "buffer" -> {
          Duration maxAge = Duration.ofMillis(number(keys, "max_age_ms", 5_000));
          PrefetchBuffer buffer = client.prefetch(PrefetchOptions.DEFAULTS.withMaxAge(maxAge));
          take = count -> new long[] {buffer.nextId()};
        }
        case "batch" -> {
          chunk = 10_000;
          take = client::nextIds;
        }
        case "stream" -> {
          chunk = 100_000;
          take = count -> stream(client, count);
        }
        case "values" -> {
          chunk = 1_000;
          Sequence sequence = client.sequence(keys.get("sequence"));
          take = count -> sequence.nextValues(count).stream().mapToLong(SequenceValue::value).toArray();
        }
        default -> take = count -> new long[] {client.nextId()};
      }
    }

    private static long[] stream(IdClient client, int count) {
      long[] all = new long[count];
      int filled = 0;
      try (IdStream stream = client.stream(count)) {
        for (long[] ids : stream) {
          System.arraycopy(ids, 0, all, filled, ids.length);
          filled += ids.length;
        }
      }
      return all;
    }

    void run(int callers) throws Exception {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < callers; i++) threads.add(new Thread(this::call));
      threads.forEach(Thread::start);
      for (Thread thread : threads) thread.join();
      if (fault.get() != null) throw fault.get();
    }

    /** One caller: takes IDs until all are taken, and writes each once it was handed to it. */
    private void call() {
      try {
        for (int wanted = claim(); wanted > 0 && fault.get() == null; wanted = claim()) takeAndWrite(wanted);
      } catch (InterruptedException | RuntimeException error) {
        fault.compareAndSet(null, error);
      }
    }

    private int claim() {
      long before = left.getAndUpdate(value -> value - Math.min(chunk, value));
      return (int) Math.min(chunk, before);
    }

    private void takeAndWrite(int wanted) throws InterruptedException {
      long[] ids;
      try {
        ids = take.apply(wanted);
      } catch (SnowlaneException error) {
        left.addAndGet(wanted);
        note(error);
        Thread.sleep(10);
        return;
      }
      succeededNanos.set(System.nanoTime());
      write(ids);
    }

    private synchronized void note(SnowlaneException error) {
      if (System.nanoTime() - succeededNanos.get() > TimeUnit.MINUTES.toNanos(1)) throw error;
      failures++;
      reasons.merge(error.reason(), 1, Integer::sum);
    }

    private synchronized void write(long[] ids) {
      try {
        for (long id : ids) out.writeLong(id);
      } catch (IOException full) {
        throw new UncheckedIOException(full);
      }
    }
  }

  private static Object parse(Map<String, String> keys) throws IOException {
    Layout twitter = Layout.preset("twitter");
    TextCodec codec = new TextCodec(twitter, "default");
    ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(Path.of(keys.get("in"))));
    StringBuilder lines = new StringBuilder();
    int count = data.remaining() / Long.BYTES;
    while (data.hasRemaining()) {
      ParsedId parsed = twitter.parse(data.getLong());
      lines.append(parsed.id()).append(' ').append(parsed.ticks());
      lines.append(' ').append(parsed.datacenterId().orElseThrow());
      lines.append(' ').append(parsed.workerId().orElseThrow());
      lines.append(' ').append(parsed.sequence().orElseThrow());
      lines.append(' ').append(codec.write(parsed.id(), TextForm.BASE62));
      lines.append(' ').append(codec.write(parsed.id(), TextForm.UUID));
      String typed = codec.write(parsed.id(), TextFormat.typed("order"));
      TextReading reading = codec.read(typed, TextReadOptions.DEFAULTS.withTypePrefix("order"));
      if (reading.id().orElseThrow() != parsed.id()) throw new IllegalStateException(typed + " reads as another ID.");
      lines.append(' ').append(typed).append('\n');
    }
    Files.writeString(Path.of(keys.get("out")), lines);
    return Map.of("count", count);
  }

  private static Object collectErrors(Map<String, String> keys) {
    List<Object> errors = new ArrayList<>();
    try (IdClient client =
        builder(keys)
            .retryMax(0)
            .timeout(Duration.ofMinutes(1))
            .attemptTimeout(Duration.ofSeconds(30))
            .build()) {
      for (int i = number(keys, "count", 1); i > 0; i--) errors.add(errorOf(client));
    }
    return Map.of("errors", errors);
  }

  /** Null where an ID came. */
  private static Object errorOf(IdClient client) {
    try {
      client.nextId();
      return null;
    } catch (SnowlaneException error) {
      Map<String, Object> found = new HashMap<>();
      found.put("reason", error.reason());
      found.put("code", error.code());
      found.put("metadata", error.metadata());
      found.put("retryAfterMs", error.retryAfter().map(Duration::toMillis).orElse(null));
      return found;
    }
  }
}
