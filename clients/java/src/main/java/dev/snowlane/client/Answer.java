package dev.snowlane.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The runs of one reservation, or of one piece of it, on their way through a buffer: one age, one low-water mark.
 * Guarded by the buffer's lock, but for its age, which any thread may ask for.
 */
final class Answer {

  final int count;

  /** Whether the next answer has been asked for on behalf of this one. */
  boolean hasAsked;

  /** A piece of the reserve asks for an answer with its first ID, because the working stock is empty then. */
  boolean isOfReserve;

  /** Whether its first run was put in place, at {@code usedFromNanos}. */
  boolean isUsed;

  long usedFromNanos;

  private final Moment asked;
  private final long maxAgeNanos;
  private final ArrayDeque<IdRun> unopened;
  private int unopenedCount;
  private ClientClock.Timer expiry = () -> {};

  /**
   * @param asked when its source was, before the first attempt
   */
  Answer(List<IdRun> runs, Moment asked, long maxAgeNanos) {
    this.asked = asked;
    this.maxAgeNanos = maxAgeNanos;
    unopened = new ArrayDeque<>(runs);
    count = runs.stream().mapToInt(IdRun::count).sum();
    unopenedCount = count;
  }

  /** Cuts runs into pieces of so many IDs, the last one of what is left. */
  static List<List<IdRun>> cut(List<IdRun> runs, int size) {
    List<List<IdRun>> pieces = new ArrayList<>();
    int room = 0;
    for (IdRun run : runs) {
      for (int from = 0; from < run.count(); ) {
        if (room == 0) {
          pieces.add(new ArrayList<>());
          room = size;
        }
        int taken = Math.min(room, run.count() - from);
        pieces.get(pieces.size() - 1).add(new IdRun(run.firstId() + from * run.stride(), taken, run.stride()));
        from += taken;
        room -= taken;
      }
    }
    return pieces;
  }

  long ageNanos() {
    return asked.elapsedNanos();
  }

  /** Whether none of its IDs may be handed out any more. */
  boolean isTooOld() {
    return ageNanos() >= maxAgeNanos;
  }

  void expireBy(ClientClock.Timer timer) {
    expiry = timer;
  }

  /** The next run to claim from; null when there is none. */
  IdRun open() {
    IdRun run = unopened.poll();
    if (run != null) unopenedCount -= run.count();
    return run;
  }

  /** How many IDs are in runs that were not opened yet. */
  int unopenedCount() {
    return unopenedCount;
  }

  /** Takes its timer off. For an answer that is used up or dropped. */
  void retire() {
    expiry.cancel();
  }
}
