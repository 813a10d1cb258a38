package dev.snowlane.client;

import java.util.ArrayDeque;
import java.util.List;

/** The runs of one answer to a reservation: one age, one low-water mark. Guarded by the buffer's lock. */
final class Answer {

  final int count;

  /** Whether the next reservation is due as soon as this answer is in use. */
  final boolean isBelowMark;

  private final ArrayDeque<ClaimableRun> unopened = new ArrayDeque<>();
  private int unopenedCount;
  private ClientClock.Timer expiry;

  /**
   * @param mark with how many IDs left the next reservation is due, 0 or more
   */
  Answer(List<IdRun> runs, int mark) {
    count = runs.stream().mapToInt(IdRun::count).sum();
    isBelowMark = mark >= count;
    unopenedCount = count;
    // The one whose claimer leaves `mark` IDs.
    int markIndex = count - mark - 1;
    for (IdRun run : runs) {
      boolean holdsMark = markIndex >= 0 && markIndex < run.count();
      unopened.add(new ClaimableRun(this, run, holdsMark ? markIndex : run.count()));
      markIndex -= run.count();
    }
  }

  void expireBy(ClientClock.Timer timer) {
    expiry = timer;
  }

  /** The next run to claim from; null when there is none. */
  ClaimableRun open() {
    ClaimableRun run = unopened.poll();
    if (run != null) unopenedCount -= run.count;
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
