package dev.snowlane.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * One sequence of the deployment. Each call goes to a server: values are kept in stock there, and nowhere in the
 * client. A value that was not received is a gap, and a retry gets another value. Safe for any number of threads.
 *
 * <p>Every method throws {@link SnowlaneException} SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED,
 * STORE_WENT_BACK, and what calls for IDs throw.
 */
public interface Sequence {

  /** Its name. */
  String name();

  /** Takes one value. */
  SequenceValue nextValue();

  /** Like {@link #nextValue()}, with a deadline of its own. */
  SequenceValue nextValue(Duration timeout);

  /**
   * Takes one value and returns its text.
   *
   * @throws SnowlaneException INVALID_SEQUENCE if the sequence has no template; the value is then a gap
   */
  default String nextText() {
    return textOf(nextValue());
  }

  /** Like {@link #nextText()}, with a deadline of its own. */
  default String nextText(Duration timeout) {
    return textOf(nextValue(timeout));
  }

  /**
   * Takes one value of the period that a time is in. Only for periodic sequences.
   *
   * @throws SnowlaneException PERIOD_CLOSED if the period has not begun, or ended longer ago than the sequence allows
   */
  SequenceValue nextValueFor(Instant time);

  /** Like {@link #nextValueFor(Instant)}, with a deadline of its own. */
  SequenceValue nextValueFor(Instant time, Duration timeout);

  /** Takes one value of the period that a time is in, and returns its text. */
  default String nextTextFor(Instant time) {
    return textOf(nextValueFor(time));
  }

  /** Like {@link #nextTextFor(Instant)}, with a deadline of its own. */
  default String nextTextFor(Instant time, Duration timeout) {
    return textOf(nextValueFor(time, timeout));
  }

  private String textOf(SequenceValue value) {
    if (!value.text().isEmpty()) return value.text();
    String message =
        "The sequence " + name() + " has no text template, so its values have no text. Call nextValue() instead.";
    Map<String, String> metadata = Map.of("name", name(), "value", "" + value.value(), "field", "text_template");
    throw new SnowlaneException(ErrorReason.INVALID_SEQUENCE, message, metadata);
  }

  /**
   * Takes {@code count} values, by a stream.
   *
   * @param count 1 to 1,048,576
   */
  List<SequenceValue> nextValues(int count);

  /** Like {@link #nextValues(int)}, with a deadline of its own. */
  List<SequenceValue> nextValues(int count, Duration timeout);

  /** Like {@link #stream(long, StreamOptions)}, with the defaults. */
  default ValueStream stream(long count) {
    return stream(count, StreamOptions.DEFAULTS);
  }

  /**
   * Takes {@code count} values in chunks: exactly that many, or an error. Nothing is sent before the first chunk is
   * asked for. A stream that breaks is continued by another, whose values may start lower, unless it is ordered.
   *
   * @param count 1 to 1,000,000,000
   */
  ValueStream stream(long count, StreamOptions options);

  /**
   * Reserves values that belong to the caller, used or not. A server grants what it has without waiting.
   *
   * @param count 1 to 1,048,576
   */
  ReservedValues reserve(int count);

  /** Like {@link #reserve(int)}, with a deadline of its own. */
  ReservedValues reserve(int count, Duration timeout);
}
