package dev.snowlane.client;

import java.util.ArrayDeque;
import java.util.List;

/**
 * What a {@link PrefetchBuffer} has at hand, and how IDs are claimed of it. It is the buffer's own part, not one beside
 * it, so that a claim follows one reference less.
 *
 * Claims need no lock. All else is guarded by the buffer's.
 */
abstract class Stock {

  /** The run that is claimed from. It changes only under the lock. */
  private volatile ClaimableRun current = ClaimableRun.empty();

  /** Set while callers claim from blocks of `current` instead; see {@link Stripes}. It changes only under the lock. */
  private volatile Stripes spread;

  /** The answer that `current` is of, and those that are spare, oldest first. */
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();

  /** What `spread` is when set; null until then, and never another. */
  private Stripes stripes;

  private long reserved;
  private long dropped;

  /** A claimer has met the low-water mark, with or without the lock. */
  abstract void markReached();

  /** What the caller claims from. */
  final ClaimableRun place() {
    Stripes places = spread;
    return places == null ? current : places.own();
  }

  /** As {@link #place()}, for a caller that takes many at a time. */
  final ClaimableRun placeOfBlocks() {
    return current;
  }

  /** Whether others claim at the same moment so often that callers should be spread. For the claimer of an index. */
  final boolean isContended(ClaimableRun run, long index) {
    return run == current && run.isContended(index);
  }

  /** Claims up to all of what is missing in {@code ids} from {@code from} on; returns how many. */
  final int claimInto(long[] ids, int from, ClaimableRun run) {
    int most = ids.length - from;
    long index = run.claimBlock(most);
    if (index >= run.count) return 0;
    int claimed = (int) Math.min(most, run.count - index);
    long id = run.idAt(index);
    for (int i = from; i < from + claimed; i++, id += run.stride) ids[i] = id;
    if (index <= run.low && run.low < index + claimed) markReached();
    return claimed;
  }

  /**
   * Under the lock nothing expires, so this claims if there is anything. Nothing lies idle while a caller waits: what
   * others' stripes hold is for all.
   */
  final int claimNext(long[] ids, int from) {
    boolean isStriped = spread != null && ids.length == 1;
    if (isStriped) {
      int claimed = claimInto(ids, from, stripes.own());
      if (claimed > 0) return claimed;
    }
    while (openNext()) {
      ClaimableRun run = isStriped ? fillStripe() : current;
      int claimed = run == null ? 0 : claimInto(ids, from, run);
      if (claimed > 0) return claimed;
    }
    while (stripes != null) {
      ClaimableRun block = stripes.withStock();
      if (block == null) break;
      int claimed = claimInto(ids, from, block);
      if (claimed > 0) return claimed;
    }
    return 0;
  }

  /** Puts a block of the current run into the caller's stripe, which is used up; null if nothing was left. */
  private ClaimableRun fillStripe() {
    ClaimableRun run = current;
    int wanted = stripes.blockSize(run);
    long index = run.claimBlock(wanted);
    if (index >= run.count) return null;
    int claimed = (int) Math.min(wanted, run.count - index);
    ClaimableRun block = run.part(index, claimed);
    stripes.put(block);
    if (index <= run.low && run.low < index + claimed) markReached();
    return block;
  }

  /** Puts the next run in place if the current one is used up. Returns whether there is something to claim. */
  private boolean openNext() {
    if (current.unclaimed() > 0) return true;
    retireCurrent();
    while (!answers.isEmpty()) {
      Answer answer = answers.peek();
      boolean isFresh = answer.unopenedCount() == answer.count;
      ClaimableRun next = answer.open();
      if (next != null) {
        current = next;
        if (isFresh && answer.isBelowMark) markReached();
        return true;
      }
      answers.poll();
      // What stripes still hold of it grows too old with it.
      if (stripes == null || stripes.unclaimed(answer) == 0) answer.retire();
    }
    return false;
  }

  /** Ends the current run and returns how many of its IDs were left. */
  private int retireCurrent() {
    ClaimableRun run = current;
    int unclaimed = run.close();
    current = ClaimableRun.empty();
    return unclaimed;
  }

  /** Lets callers claim from blocks of the run, each in a stripe, until {@link #gather}. */
  final void spread() {
    if (stripes == null) stripes = new Stripes();
    spread = stripes;
  }

  /** Ends what is in the stripes, and lets all callers claim from one cursor again. Returns how many IDs were left. */
  final int gather() {
    spread = null;
    int unused = stripes == null ? 0 : stripes.close(null);
    dropped += unused;
    return unused;
  }

  final void add(Answer answer) {
    reserved += answer.count;
    answers.add(answer);
  }

  /** The answers that are in use or spare. */
  final List<Answer> answers() {
    return List.copyOf(answers);
  }

  /** How many answers are in use or spare. */
  final int answerCount() {
    return answers.size();
  }

  final boolean isInUse(Answer answer) {
    return answer == answers.peek();
  }

  final boolean isInUseOrSpare(Answer answer) {
    return answers.contains(answer);
  }

  /** Drops an answer, what stripes hold of it too; returns how many of its IDs were left. */
  final int drop(Answer old) {
    int unused = stripes == null ? 0 : stripes.close(old);
    if (answers.contains(old)) unused += old.unopenedCount() + (isInUse(old) ? retireCurrent() : 0);
    answers.remove(old);
    dropped += unused;
    return unused;
  }

  /** Drops all there is; returns how many IDs that were. */
  final long dropAll() {
    long inStripes = gather();
    long unused = retireCurrent();
    for (Answer answer : answers) {
      unused += answer.unopenedCount();
      answer.retire();
    }
    answers.clear();
    dropped += unused;
    return unused + inStripes;
  }

  /** IDs that were taken into stock. */
  final long reserved() {
    return reserved;
  }

  /** IDs that were dropped unused. */
  final long dropped() {
    return dropped;
  }

  /** IDs that were given to callers. */
  final long handedOut() {
    return reserved - dropped - stockCount();
  }

  /** How many IDs can be claimed. */
  final long stockCount() {
    long unopened = answers.stream().mapToLong(Answer::unopenedCount).sum();
    return unopened + current.unclaimed() + (stripes == null ? 0 : stripes.unclaimed(null));
  }
}
