package dev.snowlane.client;

/**
 * IDs in arithmetic progression: {@code firstId + i * stride} for i from 0 to {@code count - 1}.
 *
 * @param firstId the first ID, 0 to 2^63 - 1
 * @param count how many IDs, at least 1
 * @param stride the distance between neighbours, at least 1
 */
public record IdRun(long firstId, int count, long stride) {

  /**
   * The last ID.
   *
   * @throws ArithmeticException if it lies above 2^63 - 1
   */
  public long lastId() {
    return Math.addExact(firstId, Math.multiplyExact(count - 1L, stride));
  }
}
