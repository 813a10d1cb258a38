package dev.snowlane.client;

import com.google.protobuf.Timestamp;
import dev.snowlane.v1.NextValueRequest;
import dev.snowlane.v1.NextValueResponse;
import dev.snowlane.v1.ReserveValuesRequest;
import dev.snowlane.v1.ReserveValuesResponse;
import dev.snowlane.v1.SequenceServiceGrpc;
import dev.snowlane.v1.SequenceServiceGrpc.SequenceServiceBlockingStub;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A sequence whose values a client requests from its servers. */
final class RpcSequence implements Sequence {

  private static final long STREAM_COUNT_MAX = 1_000_000_000;

  private final String name;
  private final Calls calls;

  RpcSequence(String name, Calls calls) {
    this.name = name;
    this.calls = calls;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public SequenceValue nextValue() {
    return nextValue(calls.settings().timeout());
  }

  @Override
  public SequenceValue nextValue(Duration timeout) {
    return nextValue(NextValueRequest.newBuilder().setName(name).build(), timeout);
  }

  @Override
  public SequenceValue nextValueFor(Instant time) {
    return nextValueFor(time, calls.settings().timeout());
  }

  @Override
  public SequenceValue nextValueFor(Instant time, Duration timeout) {
    Timestamp forTime = Timestamp.newBuilder().setSeconds(time.getEpochSecond()).setNanos(time.getNano()).build();
    return nextValue(NextValueRequest.newBuilder().setName(name).setForTime(forTime).build(), timeout);
  }

  private SequenceValue nextValue(NextValueRequest request, Duration timeout) {
    return call(
        "NextValue",
        timeout,
        (stub, admit) -> {
          NextValueResponse response = stub.nextValue(request);
          admit.database(response.getDatabase());
          return valueOf(response);
        });
  }

  @Override
  public List<SequenceValue> nextValues(int count) {
    return nextValues(count, calls.settings().timeout());
  }

  @Override
  public List<SequenceValue> nextValues(int count, Duration timeout) {
    Counts.check(count, PrefetchBuffer.COUNT_MAX);
    List<SequenceValue> all = new ArrayList<>(count);
    try (ValueStream stream = stream(count, StreamOptions.DEFAULTS.withTimeout(timeout))) {
      for (List<SequenceValue> values : stream) all.addAll(values);
    }
    return all;
  }

  @Override
  public ValueStream stream(long count, StreamOptions options) {
    Counts.check(count, STREAM_COUNT_MAX);
    return new RpcValueStream(calls, name, options, count);
  }

  @Override
  public ReservedValues reserve(int count) {
    return reserve(count, calls.settings().timeout());
  }

  @Override
  public ReservedValues reserve(int count, Duration timeout) {
    Counts.check(count, PrefetchBuffer.COUNT_MAX);
    ReserveValuesRequest request = ReserveValuesRequest.newBuilder().setName(name).setCount(count).build();
    return call(
        "ReserveValues",
        timeout,
        (stub, admit) -> {
          ReserveValuesResponse response = stub.reserveValues(request);
          admit.database(response.getDatabase());
          return reservedOf(response, count);
        });
  }

  private <T> T call(String method, Duration timeout, Calls.Work<SequenceServiceBlockingStub, T> work) {
    return calls.call(method, timeout, SequenceServiceGrpc::newBlockingStub, work);
  }

  private static SequenceValue valueOf(NextValueResponse response) {
    return sound(new SequenceValue(response.getValue(), response.getText(), response.getPeriodKey()));
  }

  /**
   * Checks the lower end of a value's range; the upper end is that of its type.
   *
   * @throws SnowlaneException INVALID_RESPONSE
   */
  static SequenceValue sound(SequenceValue value) {
    if (value.value() >= 1) return value;
    String message = "The server sent a value below 1: " + value.value() + ".";
    throw new SnowlaneException(ErrorReason.INVALID_RESPONSE, message);
  }

  /** Checks the runs by the rules for runs of IDs. */
  private static ReservedValues reservedOf(ReserveValuesResponse response, int asked) {
    List<ValueRun> runs =
        response.getRunsList().stream()
            .map(run -> new ValueRun(run.getFirstValue(), run.getCount(), run.getIncrement()))
            .toList();
    RunCheck.count(
        runs.stream().map(run -> new IdRun(run.firstValue(), run.count(), run.increment())).toList(), asked);
    return new ReservedValues(runs, response.getPeriodKey());
  }
}
