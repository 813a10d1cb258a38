package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Where a {@link PrefetchBuffer} gets its IDs from: a server's ReserveIds, or a test's own list. */
@FunctionalInterface
public interface RunSource {

  /**
   * Reserves IDs that no other caller ever gets, and none of an earlier reservation. Returns at once.
   *
   * @param count the most IDs that are wanted, at least 1
   * @param timeout after which the answer is no longer useful
   * @return runs in ascending order, together at least 1 and at most {@code count} IDs; or it fails with an {@link
   *     SnowlaneException}
   */
  CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout);
}
