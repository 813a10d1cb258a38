package dev.snowlane.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stock of a {@link PrefetchBuffer}, and how IDs are claimed from it. It is the buffer's superclass and not a
 * separate object, so that a claim follows one reference less.
 *
 * Callers claim from the run in place, which is part of the answer in use. Behind it there is at most one spare answer.
 * Once both are used up, the newest piece of the reserve comes into use. Nothing is put back: an answer in use is used
 * up or dropped, because putting it back would be the one step in which a lost race repeats an ID.
 *
 * Claims need no lock. The buffer's lock guards everything else.
 */
abstract class Stock {

  final RefillPolicy policy;
  private final ClientClock clock;

  /** The run that is claimed from. It changes only under the lock. */
  private volatile ClaimableRun current = ClaimableRun.empty();

  /** Set while callers claim from blocks of `current` instead; see {@link Stripes}. It changes only under the lock. */
  private volatile @Nullable Stripes spread;

  /** The answer in use, which `current` belongs to. Null if the stock is dry. */
  private @Nullable Answer inUse;

  /** The spare answer; null: there is none. */
  private @Nullable Answer spare;

  /** Pieces of answers that are kept for an outage, the newest last. */
  private final List<Answer> reserve = new ArrayList<>();

  /** How many IDs the reserve has. */
  private long reserveCount;

  /** The value that `spread` has when set. It is null until then, and never changes after. */
  private @Nullable Stripes stripes;

  private long reserved;
  private long dropped;

  /**
   * @param policy decides at how many IDs an answer is low
   */
  Stock(RefillPolicy policy, ClientClock clock) {
    this.policy = policy;
    this.clock = clock;
  }

  /**
   * Called when a claimer has met the low-water mark of a run, with or without the lock. It calls {@link #meetMark}
   * under the lock.
   */
  abstract void markReached(ClaimableRun run);

  /** Called when the answer in use is low for the first time. The lock is held. */
  abstract void onLow();

  /**
   * Called when IDs of an answer are about to be handed out that are too old. It must drop the answer. The lock is
   * held.
   */
  abstract void onTooOld(Answer answer);

  /** Returns where the caller claims from. */
  final ClaimableRun place() {
    Stripes places = spread;
    return places == null ? current : places.own();
  }

  /** Like {@link #place()}, for a caller that takes many at a time. */
  final ClaimableRun placeOfBlocks() {
    return current;
  }

  /**
   * Whether others claim at the same moment so often that callers should be spread. Called by the claimer of an index.
   */
  final boolean isContended(ClaimableRun run, long index) {
    return run == current && run.isContended(index);
  }

  /** Whether no ID of a run may be handed out any more. */
  static boolean isTooOld(ClaimableRun run) {
    return run.answer != null && run.answer.isTooOld();
  }

  /** Claims IDs into {@code ids} from {@code from} on, as many as possible; returns how many. */
  final int claimInto(long[] ids, int from, ClaimableRun run) {
    int most = ids.length - from;
    long index = run.claimBlock(most);
    if (index >= run.count) return 0;
    int claimed = (int) Math.min(most, run.count - index);
    long id = run.idAt(index);
    for (int i = from; i < from + claimed; i++, id += run.stride) ids[i] = id;
    if (index <= run.low && run.low < index + claimed) markReached(run);
    return claimed;
  }

  /** Claims IDs into {@code ids} from {@code from} on, from any place, as many as possible; returns how many. */
  final int claimNext(long[] ids, int from) {
    boolean isStriped = spread != null && ids.length == 1;
    for (ClaimableRun run = freshRun(isStriped); run != null; run = freshRun(isStriped)) {
      int claimed = claimInto(ids, from, run);
      if (claimed > 0) return claimed;
    }
    return 0;
  }

  /** Whether there is something to claim. Claims nothing. */
  final boolean hasFresh() {
    return freshRun(false) != null;
  }

  /**
   * A run that has IDs which are young enough; null if there is none. The age is checked here because timers do nothing
   * while the lock is held, and because after a pause of the process claims come before the timers.
   */
  private @Nullable ClaimableRun freshRun(boolean isStriped) {
    while (true) {
      ClaimableRun run = anyRun(isStriped);
      if (run == null || !isTooOld(run)) return run;
      onTooOld(run.answer);
    }
  }

  /**
   * A run of any age that has IDs; null if there is none. No ID lies idle while a caller waits: callers may then claim
   * from any stripe.
   */
  private @Nullable ClaimableRun anyRun(boolean isStriped) {
    if (isStriped && stripes.own().unclaimed() > 0) return stripes.own();
    while (openNext()) {
      ClaimableRun run = isStriped ? fillStripe() : current;
      if (run != null) return run;
    }
    return stripes == null ? null : stripes.withStock();
  }

  /** Puts a block of the current run into the caller's stripe, which is used up; null if nothing was left. */
  private @Nullable ClaimableRun fillStripe() {
    ClaimableRun run = current;
    int wanted = stripes.blockSize(run);
    long index = run.claimBlock(wanted);
    if (index >= run.count) return null;
    int claimed = (int) Math.min(wanted, run.count - index);
    ClaimableRun block = run.part(index, claimed);
    stripes.put(block);
    if (index <= run.low && run.low < index + claimed) markReached(run);
    return block;
  }

  /** Puts the next run in place if the current one is used up. Returns whether there is something to claim. */
  private boolean openNext() {
    if (current.unclaimed() > 0) return true;
    retireCurrent();
    if (inUse != null && inUse.unopenedCount() == 0) {
      // The IDs that stripes still hold of it grow too old with it.
      if (stripes == null || stripes.unclaimed(inUse) == 0) inUse.retire();
      inUse = null;
    }
    if (inUse == null) inUse = takeNextAnswer();
    if (inUse == null) return false;
    if (!inUse.isUsed) {
      inUse.isUsed = true;
      inUse.usedFromNanos = clock.nanos();
      policy.noteInUse();
    }
    IdRun next = inUse.open();
    int aboveMark = Math.max(0, next.count() + inUse.unopenedCount() - markOf(inUse));
    int low = inUse.hasAsked ? next.count() : Math.min(next.count(), aboveMark);
    current = new ClaimableRun(inUse, next, low, ClaimableRun.lookMask(policy.ratePerSecond()));
    return true;
  }

  /** The low-water mark of an answer. */
  private int markOf(Answer answer) {
    return answer.isOfReserve ? answer.count : policy.lowWater(answer.count);
  }

  /** Takes the spare answer, or else the newest piece of the reserve; null if there is none. */
  private @Nullable Answer takeNextAnswer() {
    Answer next = spare;
    spare = null;
    if (next != null || reserve.isEmpty()) return next;
    Answer newest = reserve.get(reserve.size() - 1);
    takeFromReserve(newest);
    return newest;
  }

  /** Removes a piece, and returns whether it was there. */
  private boolean takeFromReserve(Answer piece) {
    if (!reserve.remove(piece)) return false;
    reserveCount -= piece.unopenedCount();
    return true;
  }

  /** Ends the current run and returns how many of its IDs were left. */
  private int retireCurrent() {
    ClaimableRun run = current;
    int unclaimed = run.close();
    current = ClaimableRun.empty();
    return unclaimed;
  }

  /** Records that the low-water mark of a run is met: exactly one claimer meets it. */
  final void meetMark(ClaimableRun run) {
    Answer answer = run.answer;
    if (answer.hasAsked) return;
    answer.hasAsked = true;
    // If the mark is at its first ID, meeting it says nothing about the rate of use.
    if (markOf(answer) < answer.count) policy.noteMark(answer.count, clock.nanos() - answer.usedFromNanos);
    onLow();
  }

  /** Lets callers claim from blocks of the run, each in a stripe, until {@link #gather}. */
  final void spread() {
    if (stripes == null) stripes = new Stripes();
    spread = stripes;
  }

  /**
   * Ends the blocks in the stripes, and lets all callers claim from one cursor again. Returns how many IDs were left.
   */
  final int gather() {
    spread = null;
    int unused = stripes == null ? 0 : stripes.close(null);
    dropped += unused;
    return unused;
  }

  /** Adds an answer that was requested because the one in use is about to end. */
  final void add(Answer answer) {
    reserved += answer.count;
    spare = answer;
  }

  /** Adds the pieces of an answer that was requested for the reserve. They are used in their order. */
  final void addReserve(List<Answer> pieces) {
    for (int i = pieces.size() - 1; i >= 0; i--) {
      Answer piece = pieces.get(i);
      piece.isOfReserve = true;
      reserved += piece.count;
      reserveCount += piece.count;
      reserve.add(piece);
    }
  }

  /** All answers that are in use, spare or in the reserve. */
  final List<Answer> answers() {
    List<Answer> all = new ArrayList<>();
    if (inUse != null) all.add(inUse);
    if (spare != null) all.add(spare);
    all.addAll(reserve);
    return all;
  }

  final boolean hasSpare() {
    return spare != null;
  }

  /** Whether the next answer is due: the one in use is down to its low-water mark, and there is no spare one. */
  final boolean isLow() {
    return inUse != null && inUse.hasAsked && spare == null;
  }

  final boolean isInUse(Answer answer) {
    return answer == inUse;
  }

  /** Whether it is in use, spare or in the reserve. */
  final boolean isThere(Answer answer) {
    return answer == inUse || answer == spare || reserve.contains(answer);
  }

  /** The size of the reserve. */
  final OutagePolicy.Reserve reserveState(long youngNanos) {
    long young = youngPieces(youngNanos).stream().mapToLong(Answer::unopenedCount).sum();
    return new OutagePolicy.Reserve(young, reserve.size());
  }

  /** The pieces of the reserve that are younger than the given age, the newest first. */
  private List<Answer> youngPieces(long ageNanos) {
    List<Answer> young = new ArrayList<>();
    for (int i = reserve.size() - 1; i >= 0 && reserve.get(i).ageNanos() < ageNanos; i--) young.add(reserve.get(i));
    return young;
  }

  /** How long the IDs last at a rate, before the last of them is used up or too old. */
  final double secondsLeft(double ratePerSecond, long maxAgeNanos) {
    double maxAge = maxAgeNanos / 1e9;
    double left = (stockCount() - reserveCount) / ratePerSecond;
    for (Answer piece : youngPieces(maxAgeNanos)) {
      double usable = (maxAgeNanos - piece.ageNanos()) / 1e9;
      left = Math.max(left, Math.min(left + piece.unopenedCount() / ratePerSecond, usable));
    }
    return Math.min(left, maxAge);
  }

  /**
   * Drops an answer and the blocks of it in stripes; returns how many of its IDs were left. Doing it again does
   * nothing.
   */
  final int drop(Answer old) {
    old.retire();
    int unused = stripes == null ? 0 : stripes.close(old);
    if (old == inUse) {
      inUse = null;
      unused += old.unopenedCount() + retireCurrent();
    } else if (old == spare) {
      spare = null;
      unused += old.unopenedCount();
    } else if (takeFromReserve(old)) {
      unused += old.unopenedCount();
    }
    dropped += unused;
    return unused;
  }

  /** Records that a caller has claimed IDs that are too old, and does not take them. */
  final void dropClaimed(int count) {
    dropped += count;
  }

  /** Drops the whole stock; returns how many IDs that were. */
  final long dropAll() {
    long unused = gather();
    for (Answer answer : answers()) unused += drop(answer);
    return unused;
  }

  /** IDs that were taken into stock. */
  final long reserved() {
    return reserved;
  }

  /** IDs that were dropped unused. */
  final long dropped() {
    return dropped;
  }

  /** How many IDs were given to callers so far. */
  final RefillPolicy.Handed handedOut() {
    return new RefillPolicy.Handed(clock.nanos(), reserved - dropped - stockCount());
  }

  /** How many IDs can be claimed. */
  final long stockCount() {
    long working = current.unclaimed() + (inUse == null ? 0 : inUse.unopenedCount());
    long behind = (spare == null ? 0 : spare.unopenedCount()) + reserveCount;
    return working + behind + (stripes == null ? 0 : stripes.unclaimed(null));
  }
}
