package dev.snowlane.client.testing;

import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.IdRun;
import dev.snowlane.client.SequenceValue;
import dev.snowlane.client.SnowlaneException;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

/** One step of a script of {@link FakeIdClient}, or of one of its sequences. */
public sealed interface Step {

  /** Gives one ID. */
  static Step id(long id) {
    return run(id, 1, 1);
  }

  /** Gives {@code count} IDs: {@code firstId + i * stride}. */
  static Step run(long firstId, int count, long stride) {
    return new Ids(new IdRun(firstId, count, stride));
  }

  /** Gives one value; for scripts of sequences. */
  static Step value(SequenceValue value) {
    return new Values(List.of(value));
  }

  /** Gives {@code count} values without text, {@code firstValue + i * increment}; for scripts of sequences. */
  static Step values(long firstValue, int count, long increment) {
    return new Values(
        LongStream.range(0, count)
            .mapToObj(i -> new SequenceValue(firstValue + i * increment, "", ""))
            .toList());
  }

  /** Makes the call fail. The error is thrown unchanged: a fake never retries. */
  static Step fail(ErrorReason reason) {
    return fail(new SnowlaneException(reason, "The script says " + reason + "."));
  }

  /** Like {@link #fail(ErrorReason)}; the error names a time after which a retry may help. */
  static Step fail(ErrorReason reason, Duration retryAfter) {
    return fail(new SnowlaneException(reason, "The script says " + reason + ".").withRetryAfter(retryAfter));
  }

  /** Makes the call fail with the given error. */
  static Step fail(SnowlaneException error) {
    return new Fault(error);
  }

  /** Lets time pass on the clock before the step that follows. */
  static Step delay(Duration duration) {
    return new Pause(duration);
  }

  /** Made by {@link #id} and {@link #run}. */
  record Ids(IdRun run) implements Step {

    /**
     * @throws IllegalArgumentException unless it has an ID and a stride, and all its IDs lie within 0 to 2^63 - 1
     */
    public Ids {
      boolean isSound = run.firstId() >= 0 && run.count() >= 1 && run.stride() >= 1;
      if (!isSound || (run.count() - 1L) > (Long.MAX_VALUE - run.firstId()) / run.stride()) {
        throw new IllegalArgumentException(run + " is not a run of IDs.");
      }
    }
  }

  /** Made by {@link #value} and {@link #values}. */
  record Values(List<SequenceValue> values) implements Step {

    /**
     * @throws IllegalArgumentException if it has no value
     */
    public Values {
      if (values.isEmpty()) throw new IllegalArgumentException("A step gives at least one value.");
    }
  }

  /** Made by {@link #fail}. */
  record Fault(SnowlaneException error) implements Step {}

  /** Made by {@link #delay}. */
  record Pause(Duration duration) implements Step {}
}
