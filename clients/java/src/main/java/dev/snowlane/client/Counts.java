package dev.snowlane.client;

import java.util.Map;

/** Holds counts against their limits. */
final class Counts {

  private Counts() {}

  /**
   * @throws SnowlaneException COUNT_OUT_OF_RANGE unless {@code count} is 1 to {@code countMax}
   */
  static void check(long count, long countMax) {
    if (count >= 1 && count <= countMax) return;
    String message = "The count " + count + " is not from 1 to " + countMax + ".";
    Map<String, String> metadata = Map.of("count", "" + count, "count_max", "" + countMax);
    throw new SnowlaneException(ErrorReason.COUNT_OUT_OF_RANGE, message, metadata);
  }
}
