package dev.snowlane.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Where IDs come from: an {@link IdClient}, or {@code FakeIdClient} in tests. Code that takes an IdSource needs no
 * server in tests.
 */
public interface IdSource extends RunSource, AutoCloseable {

  /** Issues one ID. */
  long nextId();

  /** Like {@link #nextId()}, with a deadline of its own. */
  long nextId(Duration timeout);

  /**
   * Issues {@code count} IDs. They ascend as long as one server answers.
   *
   * @param count 1 to 1,048,576
   */
  long[] nextIds(int count);

  /** Like {@link #nextIds(int)}, with a deadline of its own. */
  long[] nextIds(int count, Duration timeout);

  /** Like {@link #stream(long, StreamOptions)}, with the defaults. */
  default IdStream stream(long count) {
    return stream(count, StreamOptions.DEFAULTS);
  }

  /**
   * Issues {@code count} IDs in chunks: exactly that many, or an error. Nothing is sent before the first chunk is asked
   * for.
   *
   * @param count 1 to 1,000,000,000
   */
  IdStream stream(long count, StreamOptions options);

  /**
   * Reserves IDs that belong to the caller, used or not. A server grants what it has without waiting.
   *
   * @param count 1 to 1,048,576
   */
  CompletableFuture<List<IdRun>> reserveAsync(int count);

  /** The deployment's layout. A server is asked for it once. */
  Layout layout();

  /** The text forms of the deployment's IDs, by {@link #layout()}. */
  TextCodec textCodec();

  /** Like {@link Layout#parse(long)}, by {@link #layout()}. */
  default ParsedId parse(long id) {
    return layout().parse(id);
  }

  /** Like {@link #parse(String, TextReadOptions)}; the form is detected. */
  default ParsedId parse(String text) {
    return parse(text, TextReadOptions.DEFAULTS);
  }

  /**
   * Reads an ID in a text form.
   *
   * @throws SnowlaneException as {@link TextCodec#read(String, TextReadOptions)}, and MALFORMED_TEXT for a UUID that
   *     holds no ID of the deployment
   */
  default ParsedId parse(String text, TextReadOptions options) {
    return parse(textCodec().read(text, options).id().orElseThrow(IdSource::foreignUuid));
  }

  private static SnowlaneException foreignUuid() {
    Map<String, String> metadata = Map.of("form", "uuid", "reason", "foreign");
    return new SnowlaneException(
        ErrorReason.MALFORMED_TEXT, "The UUID holds no ID of this deployment.", metadata);
  }

  /** Like {@link Layout#idRange(Instant, Instant)}, by {@link #layout()}. */
  default IdRange idRange(Instant start, Instant end) {
    return layout().idRange(start, end);
  }

  /** Like {@link TextCodec#write(long, TextFormat)}, by {@link #layout()}. */
  default String format(long id, TextFormat format) {
    return textCodec().write(id, format);
  }

  /** Like {@link #prefetch(PrefetchOptions)}, with the defaults. */
  default PrefetchBuffer prefetch() {
    return prefetch(PrefetchOptions.DEFAULTS);
  }

  /** Makes a buffer that draws from here, and is closed with it. */
  PrefetchBuffer prefetch(PrefetchOptions options);

  /** The sequence of that name. Nothing is sent: whether it exists shows when its first value is taken. */
  Sequence sequence(String name);

  /** Ends all calls with CLIENT_CLOSED and closes the buffers. Closing again does nothing. */
  @Override
  void close();
}
