package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Grants ever new IDs, each answer late and in several runs, or does what the test set for the next request. */
final class StubSource implements RunSource {

  interface Step {
    CompletableFuture<List<IdRun>> answer(int count);
  }

  final AtomicInteger requests = new AtomicInteger();
  final AtomicLong granted = new AtomicLong();
  final Queue<Step> script = new ConcurrentLinkedQueue<>();
  private final AtomicLong nextId = new AtomicLong(1L << 40);
  private final long delayMs;
  private final int runMax;

  StubSource(long delayMs, int runMax) {
    this.delayMs = delayMs;
    this.runMax = runMax;
  }

  @Override
  public CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout) {
    requests.incrementAndGet();
    Step step = script.poll();
    if (step != null) return step.answer(count);
    List<IdRun> runs = grant(count);
    if (delayMs == 0) return CompletableFuture.completedFuture(runs);
    return CompletableFuture.supplyAsync(() -> runs, CompletableFuture.delayedExecutor(delayMs, TimeUnit.MILLISECONDS));
  }

  List<IdRun> grant(int count) {
    List<IdRun> runs = new ArrayList<>();
    for (int left = count; left > 0; ) {
      int size = Math.min(left, runMax);
      long stride = 1 + left % 3;
      runs.add(new IdRun(nextId.getAndAdd(size * stride), size, stride));
      left -= size;
    }
    granted.addAndGet(count);
    return runs;
  }
}
