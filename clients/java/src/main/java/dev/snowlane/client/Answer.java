package dev.snowlane.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The runs of one reservation, or of one piece of it, on their way through a buffer. They share one age and one
 * low-water mark. Guarded by the buffer's lock, except the age, which any thread may read.
 */
final class Answer {

  final int count;

  /** Whether this answer has caused the request for the next one. */
  boolean hasAsked;

  /**
   * Whether it is a piece of the reserve. Such a piece asks for the next answer at its first ID, because the working
   * stock is then empty.
   */
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
   * @param asked when its source was asked, before the first attempt
   */
  Answer(List<IdRun> runs, Moment asked, long maxAgeNanos) {
    this.asked = asked;
    this.maxAgeNanos = maxAgeNanos;
    unopened = new ArrayDeque<>(runs);
    count = runs.stream().mapToInt(IdRun::count).sum();
    unopenedCount = count;
  }

  /** Cuts runs into pieces of the given size; the last piece has the rest. */
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

  /** Whether its IDs are too old to be handed out. */
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

  /** Cancels its timer, for an answer that is used up or dropped. */
  void retire() {
    expiry.cancel();
  }
}
