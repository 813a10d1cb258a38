package dev.snowlane.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A run whose IDs many threads claim. Claiming changes only the cursor, in one atomic step, so the claims of two
 * threads never overlap, whatever happens in between.
 *
 * docs/adr/0240 says what a look at the age costs.
 */
final class ClaimableRun {

  private static final VarHandle CURSOR;

  static {
    try {
      CURSOR = MethodHandles.lookup().findVarHandle(ClaimableRun.class, "cursor", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * The cursor of a closed run: above every index, and so far below 2^63 that claims cannot overflow it. It is swapped
   * in, never added, so that closing again does nothing.
   */
  private static final long CLOSED = 1L << 62;

  /** Up to twice this rate each claimer checks the age. Above it, one claimer in 10 ms of use does, */
  private static final double RATE_PER_LOOK = 100;

  /** and at least one in this many claimers. */
  private static final int CLAIMS_PER_LOOK_MAX = 64;

  /** One claimer in this many checks whether others claim at the same moment. */
  private static final int LOOK_EVERY = 64;

  /** A run is contended once this many claimers have seen others, */
  private static final int COLLISIONS_MIN = 8;

  /** but at least one per this many IDs: a sixteenth of those that checked. */
  private static final int COLLISION_SHARE = 16 * LOOK_EVERY;

  /** The answer that the run belongs to; null in a run without IDs. */
  final Answer answer;

  final long firstId;
  final long stride;
  final int count;

  /** The index whose claimer asks for a refill; {@code count} where no index of this run does. */
  final int low;

  /** It has no bit in common with the indexes whose claimers check the age and the contention. */
  private final int mask;

  private volatile long cursor;

  /** This is not exact: an increment may be lost, and contention is then noticed a little later. */
  private int collisions;

  /**
   * @param mask of {@link #lookMask}
   */
  ClaimableRun(Answer answer, IdRun run, int low, int mask) {
    this.answer = answer;
    this.firstId = run.firstId();
    this.stride = run.stride();
    this.count = run.count();
    this.low = low;
    this.mask = mask;
  }

  private ClaimableRun() {
    answer = null;
    firstId = 0;
    stride = 1;
    count = 0;
    low = 0;
    mask = 0;
    cursor = CLOSED;
  }

  /** How often the claimers of a run check its age, at a given rate of IDs a second. */
  static int lookMask(double ratePerSecond) {
    int claims = (int) Math.min(ratePerSecond / RATE_PER_LOOK, CLAIMS_PER_LOOK_MAX);
    return claims < 2 ? 0 : Integer.highestOneBit(claims) - 1;
  }

  /** A run without IDs, for a buffer that is dry. */
  static ClaimableRun empty() {
    return new ClaimableRun();
  }

  /** Claims one index. It is the caller's alone if it is below {@link #count}; otherwise nothing was claimed. */
  long claim() {
    return (long) CURSOR.getAndAdd(this, 1L);
  }

  /**
   * Claims up to {@code wanted} indexes from the one returned on; those at or above {@link #count} are not the
   * caller's.
   */
  long claimBlock(int wanted) {
    // The bound keeps the cursor of a used-up run from growing without limit.
    return (long) CURSOR.getAndAdd(this, (long) Math.min(wanted, count));
  }

  /** Some of its IDs as a run, for the caller that claimed them. */
  ClaimableRun part(long index, int partCount) {
    return new ClaimableRun(answer, new IdRun(idAt(index), partCount, stride), partCount, mask);
  }

  /**
   * Whether the claimer of an index only has to take its ID. Indexes behind {@link #low} are as plain as those before
   * it: the mark of a buffer in a rush is at the first ID of an answer.
   */
  boolean isPlain(long index) {
    return index < count && index != low && (index & mask) != 0;
  }

  /** Whether the claimer of an index has to check the age. */
  boolean looksAtAge(long index) {
    return (index & mask) == 0;
  }

  /**
   * Called by the claimer of an index: checks whether other claims immediately followed. Returns true once that was
   * seen so often that claims cost more than they should.
   */
  boolean isContended(long index) {
    if (index % LOOK_EVERY != 0 || (long) CURSOR.getOpaque(this) == index + 1) return false;
    return ++collisions >= Math.max(COLLISIONS_MIN, count / COLLISION_SHARE);
  }

  long idAt(long index) {
    return firstId + index * stride;
  }

  /** How many IDs can still be claimed. */
  int unclaimed() {
    return (int) Math.max(0, count - (long) CURSOR.getOpaque(this));
  }

  /**
   * Ends all claiming.
   *
   * @return how many IDs were left unclaimed; 0 if it was closed before
   */
  int close() {
    long before = (long) CURSOR.getAndSet(this, CLOSED);
    return (int) Math.max(0, count - before);
  }
}
