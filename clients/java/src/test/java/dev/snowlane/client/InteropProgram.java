package dev.snowlane.client;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

/** What test/interop and the conformance program start: docs/internals/client-contract.md has its commands. */
public final class InteropProgram {

  private static final Gson JSON = new GsonBuilder().serializeNulls().create();

  private InteropProgram() {}

  /** Runs the commands on standard input, one a line, and prints a line of JSON for each. */
  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      Map<String, String> keys = new HashMap<>();
      for (String pair : Arrays.asList(words).subList(1, words.length)) {
        int end = pair.indexOf('=');
        keys.put(pair.substring(0, end), pair.substring(end + 1));
      }
      System.out.println(JSON.toJson(resultOf(words[0], keys)));
    }
    System.exit(0);
  }

  private static Object resultOf(String command, Map<String, String> keys) throws Exception {
    try {
      return switch (command) {
        case "hello" -> Map.of("language", "java", "leavesOut", List.of());
        case "open" -> InteropSession.open(keys);
        case "call" -> InteropSession.call(keys);
        case "take" -> InteropSession.take(keys);
        case "streams" -> InteropSession.streams(keys);
        case "stats" -> InteropSession.stats(keys);
        case "step" -> InteropSession.step(keys);
        case "close" -> InteropSession.close(keys);
        case "fleet" -> InteropFleet.run(keys);
        case "issue" -> issue(keys);
        case "parse" -> parse(keys);
        case "sequence" -> InteropSequence.run(keys);
        default -> throw new IllegalArgumentException("There is no command " + command + ".");
      };
    } catch (SnowlaneException error) {
      return Map.of("error", InteropSession.shown(error));
    }
  }

  private static IdClientBuilder builder(Map<String, String> keys) {
    IdClientBuilder builder = IdClient.builder().endpoints(keys.get("endpoints").split(","));
    return keys.containsKey("token") ? builder.token(keys.get("token")) : builder;
  }

  private static Object issue(Map<String, String> keys) throws Exception {
    Duration timeout = Duration.ofMillis(InteropSession.number(keys, "timeout_ms", 5_000));
    try (IdClient client = builder(keys).timeout(timeout).build();
        OutputStream file = Files.newOutputStream(Path.of(keys.get("out")));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(file, 1 << 20))) {
      int count = InteropSession.number(keys, "count", 1);
      Issuing issuing = new Issuing(out, count);
      issuing.choose(client, keys);
      issuing.run(InteropSession.number(keys, "callers", 1));
      return Map.of("count", count, "failures", issuing.failures, "reasons", issuing.reasons);
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
          Duration maxAge = Duration.ofMillis(InteropSession.number(keys, "max_age_ms", 5_000));
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
}
