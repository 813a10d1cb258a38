package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Where a {@link PrefetchBuffer} gets its IDs from: a server's ReserveIds, or a test's own list. */
@FunctionalInterface
public interface RunSource {

  /**
   * Reserves IDs that nobody else is ever given. Returns at once; never asks for the IDs of an earlier reservation
   * again.
   *
   * @param count the most IDs that are wanted, at least 1
   * @param timeout after which the answer is of no use any more
   * @return runs in ascending order, together at least 1 and at most {@code count} IDs; or it fails with an {@link
   *     SnowlaneException}
   */
  CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout);
}
