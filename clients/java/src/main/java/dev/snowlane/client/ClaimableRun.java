package dev.snowlane.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A run whose IDs many threads claim. Its only word that changes is the cursor, and one atomic step on the cursor is
 * all that ever claims an ID: what two threads claim never overlaps, whatever happens between.
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
   * Where the cursor of a closed run stands: above every index, and so far below 2^63 that claims cannot wrap it. It is
   * swapped in, never added, so that closing twice is closing once.
   */
  private static final long CLOSED = 1L << 62;

  /** Up to twice this rate each claimer looks at the age. Above it, one does in 10 ms of use, */
  private static final double RATE_PER_LOOK = 100;

  /** and one of so many claimers at least. */
  private static final int CLAIMS_PER_LOOK_MAX = 64;

  /** Claimers of so many apart look whether others claim at the same moment. */
  private static final int LOOK_EVERY = 64;

  /** A run is contended for once so many claimers found others. */
  private static final int COLLISIONS_MIN = 8;

  /** And one of so many IDs: a sixteenth of those that looked. */
  private static final int COLLISION_SHARE = 16 * LOOK_EVERY;

  /** What the run is of; null in a run without IDs. */
  final Answer answer;

  final long firstId;
  final long stride;
  final int count;

  /** The index whose claimer asks for a refill; {@code count} where no index of this run does. */
  final int low;

  /** It has no bit in common with the indexes whose claimers look at the age, and at others who claim. */
  private final int mask;

  private volatile long cursor;

  /** Not exact: a count that is lost is counted a little later. */
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

  /** How often the claimers of a run look at its age, at a rate of so many IDs a second. */
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
    // The bound keeps the cursor of a run that was used up from running away.
    return (long) CURSOR.getAndAdd(this, (long) Math.min(wanted, count));
  }

  /** Some of its IDs as a run, for the caller that claimed them. */
  ClaimableRun part(long index, int partCount) {
    return new ClaimableRun(answer, new IdRun(idAt(index), partCount, stride), partCount, mask);
  }

  /** Whether the claimer of an index below {@link #low} has to do no more than take its ID. */
  boolean isPlain(long index) {
    return index < low && (index & mask) != 0;
  }

  /** Whether the claimer of an index has to look at the age. */
  boolean looksAtAge(long index) {
    return (index & mask) == 0;
  }

  /**
   * For the claimer of an index: looks whether other claims followed at once. Returns whether that was seen so often
   * that they cost more than they should.
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
