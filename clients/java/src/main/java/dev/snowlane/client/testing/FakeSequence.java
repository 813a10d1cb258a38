package dev.snowlane.client.testing;

import dev.snowlane.client.ClientClock;
import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.ReservedValues;
import dev.snowlane.client.Sequence;
import dev.snowlane.client.SequenceValue;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.StreamOptions;
import dev.snowlane.client.ValueRun;
import dev.snowlane.client.ValueStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A sequence of a {@link FakeIdClient}, which hands out the values of its script. */
final class FakeSequence implements Sequence {

  private final String name;
  private final FakeIdClient client;

  /** Guarded by this. */
  private final Deque<Step> steps;

  FakeSequence(String name, FakeIdClient client, List<Step> script) {
    this.name = name;
    this.client = client;
    this.steps = new ArrayDeque<>(script);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public SequenceValue nextValue() {
    return take(1).get(0);
  }

  @Override
  public SequenceValue nextValue(Duration timeout) {
    return nextValue();
  }

  @Override
  public SequenceValue nextValueFor(Instant time) {
    return nextValue();
  }

  @Override
  public SequenceValue nextValueFor(Instant time, Duration timeout) {
    return nextValue();
  }

  @Override
  public List<SequenceValue> nextValues(int count) {
    FakeIdClient.check(count, FakeIdClient.COUNT_MAX);
    List<SequenceValue> all = new ArrayList<>();
    while (all.size() < count) all.addAll(take(count - all.size()));
    return all;
  }

  @Override
  public List<SequenceValue> nextValues(int count, Duration timeout) {
    return nextValues(count);
  }

  @Override
  public ValueStream stream(long count, StreamOptions options) {
    FakeIdClient.check(count, FakeIdClient.STREAM_COUNT_MAX);
    int chunkSize = options.chunkSize() == 0 ? FakeIdClient.CHUNK_SIZE : options.chunkSize();
    return new ValueStream() {
      private long left = count;

      @Override
      public boolean hasNext() {
        return left > 0;
      }

      @Override
      public List<SequenceValue> next() {
        if (left == 0) throw new NoSuchElementException("The stream has ended.");
        List<SequenceValue> values = take((int) Math.min(left, chunkSize));
        left -= values.size();
        return values;
      }

      @Override
      public void close() {
        left = 0;
      }
    };
  }

  @Override
  public ReservedValues reserve(int count) {
    FakeIdClient.check(count, FakeIdClient.COUNT_MAX);
    List<SequenceValue> values = take(count);
    List<ValueRun> runs = values.stream().map(value -> new ValueRun(value.value(), 1, 1)).toList();
    return new ReservedValues(runs, values.get(0).periodKey());
  }

  @Override
  public ReservedValues reserve(int count, Duration timeout) {
    return reserve(count);
  }

  /** Takes up to {@code count} values of one period, after the delays before them. */
  private List<SequenceValue> take(int count) {
    List<SequenceValue> values = new ArrayList<>();
    while (true) {
      Optional<Duration> pause = takeSteps(count, values);
      if (pause.isEmpty()) return values;
      CompletableFuture<Void> due = new CompletableFuture<>();
      ClientClock.Timer timer = client.clock().after(pause.get().toNanos(), () -> due.complete(null));
      try {
        FakeIdClient.await(due);
      } finally {
        timer.cancel();
      }
    }
  }

  /** Takes steps that yield values. If a delay comes first, takes and returns that. */
  private synchronized Optional<Duration> takeSteps(int count, List<SequenceValue> values) {
    if (client.isClosed()) throw new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The client is closed.");
    while (values.size() < count && steps.peek() instanceof Step.Values step) {
      List<SequenceValue> given = step.values();
      boolean isOtherPeriod = !values.isEmpty() && !given.get(0).periodKey().equals(values.get(0).periodKey());
      if (isOtherPeriod) break;
      steps.poll();
      int taken = Math.min(count - values.size(), given.size());
      values.addAll(given.subList(0, taken));
      if (taken < given.size()) steps.push(new Step.Values(given.subList(taken, given.size())));
    }
    if (!values.isEmpty()) return Optional.empty();
    Step step = steps.poll();
    if (step instanceof Step.Fault fault) throw fault.error();
    if (step instanceof Step.Pause pause) return Optional.of(pause.duration());
    String message = "The script has ended: the code under test takes more values than it says.";
    throw new SnowlaneException(ErrorReason.SCRIPT_ENDED, message);
  }
}
