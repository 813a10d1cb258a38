package dev.snowlane.client;

import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Checks an answer against the contract of ReserveIds. One bad run makes the whole answer bad. */
final class RunCheck {

  /** The lowest ID that is accepted from a server: a message without an ID reads as 0. */
  static final long ID_MIN = 1;

  private RunCheck() {}

  /**
   * Counts the IDs of an answer.
   *
   * @param asked the most IDs that it may hold
   * @throws SnowlaneException INVALID_RESPONSE if it is empty or too large, a run is empty, has no stride or leaves 1
   *     to 2^63 - 1, or two runs overlap
   */
  static int count(List<IdRun> runs, int asked) {
    long count = 0;
    long lastId = ID_MIN - 1;
    for (IdRun run : runs.stream().sorted(Comparator.comparingLong(IdRun::firstId)).toList()) {
      if (run.count() < 1) throw refused("a run's count is not 1 or more", run);
      if (run.stride() < 1) throw refused("a run's stride is not 1 or more", run);
      if (run.firstId() < 0) throw refused("an ID has bit 63 set", run);
      if (run.firstId() < ID_MIN) throw refused("an ID is 0", run);
      if (run.firstId() <= lastId) throw refused("two runs overlap", run);
      try {
        lastId = run.lastId();
      } catch (ArithmeticException overflow) {
        throw refused("a run ends above 2^63 - 1", run);
      }
      count += run.count();
    }
    if (count == 0) {
      throw new SnowlaneException(ErrorReason.INVALID_RESPONSE, "The answer was refused: it holds no ID.");
    }
    if (count <= asked) return (int) count;
    Map<String, String> metadata = Map.of("count", "" + count, "asked_count", "" + asked);
    String message = "The answer was refused: it holds " + count + " IDs, and at most " + asked + " were asked for.";
    throw new SnowlaneException(ErrorReason.INVALID_RESPONSE, message, metadata);
  }

  private static SnowlaneException refused(String what, IdRun run) {
    Map<String, String> metadata =
        Map.of(
            "first_id", Long.toUnsignedString(run.firstId()),
            "count", Integer.toUnsignedString(run.count()),
            "stride", Long.toUnsignedString(run.stride()));
    return new SnowlaneException(ErrorReason.INVALID_RESPONSE, "The answer was refused: " + what + ".", metadata);
  }
}
