package dev.snowlane.client.testing;

import dev.snowlane.client.ClientClock;
import dev.snowlane.client.ClientObserver;
import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.IdRun;
import dev.snowlane.client.IdSource;
import dev.snowlane.client.IdStream;
import dev.snowlane.client.Layout;
import dev.snowlane.client.PrefetchBuffer;
import dev.snowlane.client.PrefetchOptions;
import dev.snowlane.client.Sequence;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.StreamOptions;
import dev.snowlane.client.TextCodec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Replaces an IdClient in tests: it hands out the IDs of its script, without a server. Once the script has ended, calls
 * throw SCRIPT_ENDED, because a test that needs more IDs than its script has is wrong.
 */
public final class FakeIdClient implements IdSource {

  static final int COUNT_MAX = 1 << 20;
  static final long STREAM_COUNT_MAX = 1_000_000_000;
  static final int CHUNK_SIZE = 4_096;

  private final FakeClock clock;
  private final Layout layout;

  // All below are guarded by this.
  private final Deque<Step> steps = new ArrayDeque<>();
  private final List<PrefetchBuffer> buffers = new ArrayList<>();
  private final Map<String, FakeSequence> sequences = new HashMap<>();
  private boolean closed;

  /** A client of the layout {@code twitter}, with a clock of its own. */
  public FakeIdClient(Step... script) {
    this(new FakeClock(), Layout.preset("twitter"), script);
  }

  public FakeIdClient(FakeClock clock, Layout layout, Step... script) {
    this.clock = clock;
    this.layout = layout;
    this.steps.addAll(List.of(script));
  }

  /** The clock of delays and buffers. */
  public FakeClock clock() {
    return clock;
  }

  @Override
  public long nextId() {
    return nextIds(1)[0];
  }

  @Override
  public long nextId(Duration timeout) {
    return nextId();
  }

  @Override
  public long[] nextIds(int count) {
    check(count, COUNT_MAX);
    long[] ids = new long[count];
    for (int filled = 0; filled < count; ) {
      for (IdRun run : await(reserveAsync(count - filled))) {
        for (int i = 0; i < run.count(); i++) ids[filled++] = run.firstId() + i * run.stride();
      }
    }
    return ids;
  }

  @Override
  public long[] nextIds(int count, Duration timeout) {
    return nextIds(count);
  }

  @Override
  public IdStream stream(long count, StreamOptions options) {
    check(count, STREAM_COUNT_MAX);
    int chunkSize = options.chunkSize() == 0 ? CHUNK_SIZE : options.chunkSize();
    return new IdStream() {
      private long left = count;

      @Override
      public boolean hasNext() {
        return left > 0;
      }

      @Override
      public long[] next() {
        if (left == 0) throw new NoSuchElementException("The stream has ended.");
        long[] ids = nextIds((int) Math.min(left, chunkSize));
        left -= ids.length;
        return ids;
      }

      @Override
      public void close() {
        left = 0;
      }
    };
  }

  /** Returns the IDs of the script up to the next fault, delay or its end; at most {@code count} of them. */
  @Override
  public CompletableFuture<List<IdRun>> reserveAsync(int count) {
    CompletableFuture<List<IdRun>> answer = new CompletableFuture<>();
    take(count, answer);
    return answer;
  }

  /** Like {@link #reserveAsync(int)}: only the script says what fails. */
  @Override
  public CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout) {
    return reserveAsync(count);
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public TextCodec textCodec() {
    return new TextCodec(layout, "default");
  }

  @Override
  public PrefetchBuffer prefetch(PrefetchOptions options) {
    PrefetchBuffer buffer = new PrefetchBuffer(this, options, clock, ClientObserver.NONE);
    synchronized (this) {
      buffers.add(buffer);
    }
    return buffer;
  }

  /** Sets the script of the sequence of that name: values, faults and delays. */
  public synchronized void addSequence(String name, Step... script) {
    sequences.put(name, new FakeSequence(name, this, List.of(script)));
  }

  /** The sequence whose script {@link #addSequence} has set; any other fails with SEQUENCE_NOT_FOUND. */
  @Override
  public synchronized Sequence sequence(String name) {
    FakeSequence found = sequences.get(name);
    if (found != null) return found;
    return new FakeSequence(name, this, List.of(Step.fail(ErrorReason.SEQUENCE_NOT_FOUND)));
  }

  synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    List<PrefetchBuffer> closing;
    synchronized (this) {
      closed = true;
      closing = List.copyOf(buffers);
    }
    closing.forEach(PrefetchBuffer::close);
  }

  private void take(int count, CompletableFuture<List<IdRun>> answer) {
    Optional<Duration> pause;
    try {
      check(count, COUNT_MAX);
      List<IdRun> runs = new ArrayList<>();
      pause = takeSteps(count, runs);
      if (pause.isEmpty()) answer.complete(runs);
    } catch (SnowlaneException error) {
      answer.completeExceptionally(error);
      return;
    }
    // The timer continues it, because the waiting thread may be the one that advances the clock.
    pause.ifPresent(
        duration -> {
          ClientClock.Timer timer = clock.after(duration.toNanos(), () -> take(count, answer));
          answer.whenComplete((runs, error) -> timer.cancel());
        });
  }

  /** Takes steps that yield IDs. If a delay comes first, takes and returns that. */
  private synchronized Optional<Duration> takeSteps(int count, List<IdRun> runs) {
    if (closed) throw new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The client is closed.");
    for (int left = count; left > 0; ) {
      Step step = steps.peek();
      if (step instanceof Step.Ids ids) {
        left -= cut(ids.run(), left, runs);
        continue;
      }
      if (!runs.isEmpty()) return Optional.empty();
      if (step == null) {
        String message = "The script has ended: the code under test takes more IDs than it says.";
        throw new SnowlaneException(ErrorReason.SCRIPT_ENDED, message);
      }
      steps.poll();
      if (step instanceof Step.Fault fault) throw fault.error();
      if (step instanceof Step.Pause pause) return Optional.of(pause.duration());
    }
    return Optional.empty();
  }

  private int cut(IdRun run, int left, List<IdRun> runs) {
    steps.poll();
    int count = Math.min(run.count(), left);
    runs.add(new IdRun(run.firstId(), count, run.stride()));
    if (count < run.count()) {
      steps.push(Step.run(run.firstId() + count * run.stride(), run.count() - count, run.stride()));
    }
    return count;
  }

  static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get();
    } catch (InterruptedException interrupted) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new SnowlaneException(ErrorReason.CANCELLED, "The thread was interrupted while it waited.");
    } catch (ExecutionException failed) {
      throw (SnowlaneException) failed.getCause();
    }
  }

  static void check(long count, long countMax) {
    if (count >= 1 && count <= countMax) return;
    String message = "The count " + count + " is not from 1 to " + countMax + ".";
    Map<String, String> metadata = Map.of("count", "" + count, "count_max", "" + countMax);
    throw new SnowlaneException(ErrorReason.COUNT_OUT_OF_RANGE, message, metadata);
  }
}
