package dev.snowlane.client;

import java.util.Iterator;
import java.util.List;

/**
 * Values in chunks, none of them empty; all of one chunk are of one period. For one thread. Closing it before its end
 * cancels the call; one that is neither read to its end nor closed keeps the server waiting:
 *
 * <pre>{@code
 * try (ValueStream stream = orders.stream(100_000)) {
 *   for (List<SequenceValue> values : stream) use(values);
 * }
 * }</pre>
 *
 * {@code hasNext} and {@code next} throw {@link SnowlaneException}, again and again once the stream has failed.
 */
public interface ValueStream extends Iterator<List<SequenceValue>>, Iterable<List<SequenceValue>>, AutoCloseable {

  /** This stream itself: it can be read once. */
  @Override
  default Iterator<List<SequenceValue>> iterator() {
    return this;
  }

  /** Cancels what has not come. Closing again does nothing. */
  @Override
  void close();
}
