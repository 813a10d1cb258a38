public final class SnowflakeId {
  // The layout, from the lowest bit up: how far a field is shifted, and its highest value.
  static final long EPOCH_MS = 1288834974657L;
  static final long TICK_MS = 1L;
  static final long TICKS_PER_MS = 1L;
  static final int TIME_SHIFT = 22;
  static final long TIME_MAX = 2199023255551L;
  static final int TIME_BITS = 41;
  static final int DATACENTER_SHIFT = 17;
  static final long DATACENTER_MAX = 31L;
  static final int WORKER_SHIFT = 12;
  static final long WORKER_MAX = 31L;
  static final int SEQUENCE_SHIFT = 0;
  static final long SEQUENCE_MAX = 4095L;
  static final int ALL_BITS = 63;

  static long check(String name, long value, long max) {
    if (value < 0 || value > max) throw new IllegalArgumentException(name + " is not from 0 to " + max + ": " + value);
    return value;
  }

  static long compose(long tick, long datacenter, long worker, long sequence) {
    return check("time", tick, TIME_MAX) << TIME_SHIFT
        | check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT
        | check("worker", worker, WORKER_MAX) << WORKER_SHIFT
        | check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT;
  }

  static long tickOf(long unixMs) {
    if (unixMs < EPOCH_MS) throw new IllegalArgumentException("before the epoch: " + unixMs);
    return Math.multiplyExact(unixMs - EPOCH_MS, TICKS_PER_MS) / TICK_MS;
  }

  public static long make(long unixMs, long datacenter, long worker, long sequence) {
    return compose(tickOf(unixMs), datacenter, worker, sequence);
  }

  public record Parts(long unixMs, long datacenter, long worker, long sequence) {}

  public static Parts decode(long id) {
    check("ID", id, (1L << ALL_BITS) - 1);
    long tick = check("time", id >> TIME_SHIFT & (1L << TIME_BITS) - 1, TIME_MAX);
    return new Parts(
        EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
        id >> DATACENTER_SHIFT & DATACENTER_MAX,
        id >> WORKER_SHIFT & WORKER_MAX,
        id >> SEQUENCE_SHIFT & SEQUENCE_MAX);
  }

  /**
   * Makes IDs: {@code var ids = new SnowflakeId.Generator(0, 1); ids.next();}
   *
   * <p>They rise, and none repeats while it lives, in any number of threads. It keeps nothing, so these two repeat IDs,
   * and nothing here sees it: a restart after the clock was set back, and a second process with the same worker ID.
   */
  public static final class Generator {
    private final long datacenter;
    private final long worker;
    private long last = tickOf(System.currentTimeMillis());
    // An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
    private long sequence = SEQUENCE_MAX;

    public Generator(long datacenter, long worker) {
      this.datacenter = check("datacenter", datacenter, DATACENTER_MAX);
      this.worker = check("worker", worker, WORKER_MAX);
    }

    public synchronized long next() {
      while (true) {
        long now = tickOf(System.currentTimeMillis());
        if (now < last) {
          throw new IllegalStateException("The clock is behind the last ID by " + (last - now) + " ticks.");
        }
        if (now == last && sequence == SEQUENCE_MAX) {
          // The tick is full: wait for the next one.
          java.util.concurrent.locks.LockSupport.parkNanos(100_000);
          continue;
        }
        sequence = now == last ? sequence + 1 : 0;
        last = now;
        return compose(now, datacenter, worker, sequence);
      }
    }
  }
}
