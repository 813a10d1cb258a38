package dev.snowlane.client;

import java.util.Map;

/** Checks counts against their limits. */
final class Counts {

  private static final int CHUNK_SIZE_MAX = 65_536;
  private static final long STREAM_COUNT_MAX = 1_000_000_000;

  private Counts() {}

  /**
   * @throws SnowlaneException COUNT_OUT_OF_RANGE unless {@code count} is 1 to {@code countMax}
   */
  static void check(long count, long countMax) {
    boolean isForStream = count > countMax && count <= STREAM_COUNT_MAX;
    String hint = isForStream ? " Use stream() for more." : "";
    if (count < 1 || count > countMax) throw outOfRange("count", count, 1, countMax, hint);
  }

  /**
   * @throws SnowlaneException COUNT_OUT_OF_RANGE unless it is 0 (the server chooses) to 65,536, the servers' limit
   */
  static void checkChunkSize(int chunkSize) {
    if (chunkSize < 0 || chunkSize > CHUNK_SIZE_MAX) throw outOfRange("chunk_size", chunkSize, 0, CHUNK_SIZE_MAX, "");
  }

  private static SnowlaneException outOfRange(String field, long value, long least, long most, String hint) {
    String message = field + " is " + value + "; it must be from " + least + " to " + most + "." + hint;
    Map<String, String> metadata = Map.of(field, "" + value, field + "_max", "" + most);
    return new SnowlaneException(ErrorReason.COUNT_OUT_OF_RANGE, message, metadata);
  }
}
