package dev.snowlane.client;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Further places to claim from. They are used when several cores write one cursor so often that they wait for its cache
 * line. Each stripe holds a block of the run in use. A thread keeps to one stripe while it can, but does not own it: a
 * claim is an atomic step wherever it is made.
 *
 * The buffer's lock guards everything but {@link #own()}. docs/adr/0070 has the figures, and what else was tried.
 */
final class Stripes {

  private static final int PER_CORE = 8;
  private static final int MOST = 256;

  /**
   * The distance between two places, in references: no two places share a cache line, or a pair of lines that is
   * fetched together.
   */
  private static final int SPACING = 32;

  /** How many IDs a stripe takes at a time: enough that taking a block costs little for each ID. */
  private static final int BLOCK_MAX = 256;

  private final AtomicReferenceArray<ClaimableRun> places;
  private final int mask;

  Stripes() {
    int wanted = Math.min(PER_CORE * Runtime.getRuntime().availableProcessors(), MOST);
    mask = (Integer.highestOneBit(wanted - 1) << 1) - 1;
    places = new AtomicReferenceArray<>((mask + 1) * SPACING);
    for (int i = 0; i <= mask; i++) places.set(i * SPACING, ClaimableRun.empty());
  }

  /**
   * Returns where the calling thread claims from. Threads that were started one after another have different stripes.
   */
  ClaimableRun own() {
    return places.get(ownIndex());
  }

  private int ownIndex() {
    return ((int) Thread.currentThread().getId() & mask) * SPACING;
  }

  /** How many IDs of a run to take into a stripe: fewer towards its end, so that little is spread over many. */
  int blockSize(ClaimableRun run) {
    return Math.min(Math.max(run.unclaimed() / (2 * (mask + 1)), 1), BLOCK_MAX);
  }

  /** Gives a block to the stripe of the calling thread, whose last block is used up. */
  void put(ClaimableRun block) {
    places.set(ownIndex(), block);
  }

  /** A block that is not used up; null if there is none. */
  ClaimableRun withStock() {
    for (int i = 0; i <= mask; i++) {
      ClaimableRun block = places.get(i * SPACING);
      if (block.unclaimed() > 0) return block;
    }
    return null;
  }

  /** How many IDs of an answer there are, or of all answers if it is null. */
  int unclaimed(Answer answer) {
    int sum = 0;
    for (int i = 0; i <= mask; i++) {
      ClaimableRun block = places.get(i * SPACING);
      if (answer == null || block.answer == answer) sum += block.unclaimed();
    }
    return sum;
  }

  /** Ends the blocks of an answer, or all if it is null, and returns how many IDs were left. */
  int close(Answer answer) {
    int sum = 0;
    for (int i = 0; i <= mask; i++) {
      ClaimableRun block = places.get(i * SPACING);
      if (answer == null || block.answer == answer) sum += block.close();
    }
    return sum;
  }
}
