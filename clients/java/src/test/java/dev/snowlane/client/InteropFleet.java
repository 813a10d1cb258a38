package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The command of the interop program that runs many clients: docs/internals/client-contract.md has it. */
final class InteropFleet {

  /** This many clients wait for their first ID at a time. */
  private final Semaphore starting = new Semaphore(50);

  private final String[] endpoints;
  private final int perSecond;
  private final int total;

  /** Clients that have not had their first ID. */
  private final CountDownLatch unbegun;

  // Guarded by this.
  private int count;
  private int failures;
  private final Map<ErrorReason, Integer> reasons = new TreeMap<>();

  private InteropFleet(Map<String, String> keys) {
    endpoints = keys.get("endpoints").split(",");
    perSecond = InteropSession.number(keys, "per_second", 1);
    total = perSecond * InteropSession.number(keys, "seconds", 1);
    unbegun = new CountDownLatch(InteropSession.number(keys, "clients", 1));
  }

  /**
   * Makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one, and
   * counts the calls that fail.
   */
  static Object run(Map<String, String> keys) throws InterruptedException {
    InteropFleet fleet = new InteropFleet(keys);
    List<Thread> members = new ArrayList<>();
    for (long left = fleet.unbegun.getCount(); left > 0; left--) {
      Thread member = new Thread(fleet::member);
      member.start();
      members.add(member);
    }
    for (Thread member : members) member.join();
    return Map.of("count", fleet.count, "failures", fleet.failures, "reasons", fleet.reasons);
  }

  private void member() {
    try (IdClient client = IdClient.builder().endpoints(endpoints).build()) {
      PrefetchBuffer buffer = client.prefetch(PrefetchOptions.DEFAULTS);
      starting.acquire();
      // Connecting may take a busy machine a while.
      note(() -> buffer.nextId(Duration.ofMinutes(2)));
      starting.release();
      unbegun.countDown();
      unbegun.await();
      long startNanos = System.nanoTime();
      for (int i = 0; i < total; i++) {
        TimeUnit.NANOSECONDS.sleep(startNanos + i * 1_000_000_000L / perSecond - System.nanoTime());
        note(buffer::nextId);
      }
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  private void note(LongSupplier call) {
    ErrorReason reason = null;
    try {
      call.getAsLong();
    } catch (SnowlaneException error) {
      reason = error.reason();
    }
    synchronized (this) {
      if (reason == null) {
        count++;
      } else {
        failures++;
        reasons.merge(reason, 1, Integer::sum);
      }
    }
  }
}
