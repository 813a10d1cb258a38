package dev.snowlane.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Whether a client is closed; wakes the calls that wait when it is. */
final class Closing {

  private final Set<CountDownLatch> waiting = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  boolean isClosed() {
    return closed;
  }

  static SnowlaneException error() {
    return new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The client is closed.");
  }

  void close() {
    closed = true;
    waiting.forEach(CountDownLatch::countDown);
  }

  /** Lets time pass by a clock; returns earlier when the client is closed. */
  void sleep(ClientClock clock, long nanos) throws InterruptedException {
    CountDownLatch due = new CountDownLatch(1);
    waiting.add(due);
    ClientClock.Timer timer = clock.after(nanos, due::countDown);
    try {
      // This is checked after the latch was added: either the closing thread sees the latch, or this thread sees that
      // the client is closed.
      if (!closed) due.await();
    } finally {
      timer.cancel();
      waiting.remove(due);
    }
  }
}
