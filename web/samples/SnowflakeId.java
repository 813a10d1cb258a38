final class SnowflakeId {
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

  static long make(long unixMs, long datacenter, long worker, long sequence) {
    return compose(tickOf(unixMs), datacenter, worker, sequence);
  }

  record Parts(long unixMs, long datacenter, long worker, long sequence) {}

  static Parts decode(long id) {
    check("ID", id, (1L << ALL_BITS) - 1);
    long tick = check("time", id >> TIME_SHIFT & (1L << TIME_BITS) - 1, TIME_MAX);
    return new Parts(
        EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
        id >> DATACENTER_SHIFT & DATACENTER_MAX,
        id >> WORKER_SHIFT & WORKER_MAX,
        id >> SEQUENCE_SHIFT & SEQUENCE_MAX);
  }

  /** One for each worker ID at a time, and none that starts again within a tick: nothing here checks that. */
  static final class Generator {
    private final long datacenter;
    private final long worker;
    private long last = -1;
    private long sequence;

    Generator(long datacenter, long worker) {
      this.datacenter = datacenter;
      this.worker = worker;
    }

    synchronized long next() {
      long now = tickOf(System.currentTimeMillis());
      // A clock that was set back, and a full tick, go on from the last time.
      if (now > last) {
        last = now;
        sequence = 0;
      } else if (sequence < SEQUENCE_MAX) {
        sequence++;
      } else {
        last++;
        sequence = 0;
      }
      return compose(last, datacenter, worker, sequence);
    }
  }

  public static void main(String[] args) {
    String command = args.length == 0 ? "" : args[0];
    long[] values = java.util.Arrays.stream(args).skip(1).mapToLong(Long::parseLong).toArray();
    if (command.equals("make")) {
      System.out.println(make(values[0], values[1], values[2], values[3]));
    } else if (command.equals("decode")) {
      for (long id : values) {
        Parts parts = decode(id);
        System.out.println(parts.unixMs + " " + parts.datacenter + " " + parts.worker + " " + parts.sequence);
      }
    } else {
      System.out.println(new Generator(0, 0).next());
    }
  }
}
