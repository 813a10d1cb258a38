package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Runs the reservations of one client in the background, at most {@value #THREADS_MAX} at a time; further ones queue.
 * They do not run on a caller's thread.
 */
final class Reservations {

  /** How many reservations of one client run at a time. */
  static final int THREADS_MAX = 32;

  /** The threads of all clients. They end after 10 s without work, and none of them keeps a process alive. */
  private static final ExecutorService THREADS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "snowlane-reservation");
            thread.setDaemon(true);
            return thread;
          });

  private final ClientClock clock;

  // Both are guarded by this object.
  private final Queue<FutureTask<Void>> queue = new ArrayDeque<>();
  private int running;

  Reservations(ClientClock clock) {
    this.clock = clock;
  }

  /**
   * Runs a reservation. A cancellation of the answer interrupts it.
   *
   * @param timeout counts from this call, so that the time in the queue is part of it
   * @param reserve gets the rest of the timeout
   * @return fails with what {@code reserve} throws, or with DEADLINE_EXCEEDED if the timeout ends in the queue
   */
  CompletableFuture<List<IdRun>> run(Duration timeout, Function<Duration, List<IdRun>> reserve) {
    long timeoutNanos = Times.nanos(timeout);
    long deadlineNanos = clock.nanos() + timeoutNanos;
    CompletableFuture<List<IdRun>> answer = new CompletableFuture<>();
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              if (answer.isDone()) return null;
              try {
                answer.complete(reserve.apply(Duration.ofNanos(Math.max(deadlineNanos - clock.nanos(), 0))));
              } catch (Throwable error) {
                // This thread runs nothing else. Whatever was thrown, the caller must learn of it.
                answer.completeExceptionally(error);
              }
              return null;
            });
    answer.whenComplete(
        (runs, error) -> {
          if (answer.isCancelled()) task.cancel(true);
        });
    if (start(task)) return answer;
    // Once it runs, the call observes its deadline itself.
    ClientClock.Timer limit =
        clock.after(Math.max(timeoutNanos, 1), () -> endInQueue(task, answer));
    answer.whenComplete((runs, error) -> limit.cancel());
    return answer;
  }

  /** Starts a task, or puts it into the queue. Returns whether it was started. */
  private boolean start(FutureTask<Void> task) {
    synchronized (this) {
      if (running == THREADS_MAX) {
        queue.add(task);
        return false;
      }
      running++;
    }
    try {
      THREADS.execute(() -> work(task));
      return true;
    } catch (Throwable error) {
      // No thread could be started.
      synchronized (this) {
        running--;
      }
      throw error;
    }
  }

  private void work(FutureTask<Void> first) {
    for (FutureTask<Void> task = first; task != null; task = next()) {
      task.run();
      // An interrupt that ended one reservation must not end the next.
      Thread.interrupted();
    }
  }

  private synchronized FutureTask<Void> next() {
    FutureTask<Void> task = queue.poll();
    if (task == null) running--;
    return task;
  }

  private void endInQueue(FutureTask<Void> task, CompletableFuture<List<IdRun>> answer) {
    boolean isQueued;
    synchronized (this) {
      isQueued = queue.remove(task);
    }
    if (isQueued) answer.completeExceptionally(Attempts.timedOut());
  }
}
