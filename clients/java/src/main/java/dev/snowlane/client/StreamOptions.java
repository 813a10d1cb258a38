package dev.snowlane.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How a stream works. Start from {@link #DEFAULTS} and change what is needed.
 *
 * @param timeout deadline of the whole stream; empty: no deadline, and the client's timeout bounds the wait for each
 *     chunk
 * @param chunkSize the most IDs of one chunk, 1 to 65,536; 0 leaves it to the server
 * @param ordered whether a stream that breaks ends with the error, so that all its IDs ascend; otherwise it is
 *     continued by another, whose IDs may start lower
 */
public record StreamOptions(Optional<Duration> timeout, int chunkSize, boolean ordered) {

  public static final StreamOptions DEFAULTS = new StreamOptions(Optional.empty(), 0, false);

  /**
   * @throws SnowlaneException COUNT_OUT_OF_RANGE if {@code chunkSize} is
   */
  public StreamOptions {
    Counts.checkChunkSize(chunkSize);
  }

  public StreamOptions withTimeout(Duration value) {
    return new StreamOptions(Optional.of(value), chunkSize, ordered);
  }

  public StreamOptions withChunkSize(int value) {
    return new StreamOptions(timeout, value, ordered);
  }

  public StreamOptions withOrdered(boolean value) {
    return new StreamOptions(timeout, chunkSize, value);
  }
}
