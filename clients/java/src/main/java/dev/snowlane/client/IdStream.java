package dev.snowlane.client;

import java.util.Iterator;

/**
 * IDs in chunks, none of them empty. For one thread. Closing it before its end cancels the call; one that is neither
 * read to its end nor closed keeps the server waiting:
 *
 * <pre>{@code
 * try (IdStream stream = client.stream(100_000)) {
 *   for (long[] ids : stream) use(ids);
 * }
 * }</pre>
 *
 * {@code hasNext} and {@code next} throw {@link SnowlaneException}, again and again once the stream has failed.
 */
public interface IdStream extends Iterator<long[]>, Iterable<long[]>, AutoCloseable {

  /** This stream itself: it can be read once. */
  @Override
  default Iterator<long[]> iterator() {
    return this;
  }

  /** Cancels what has not come. Closing again does nothing. */
  @Override
  void close();
}
