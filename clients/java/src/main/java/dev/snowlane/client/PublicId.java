package dev.snowlane.client;

import java.util.Map;

/**
 * Turns each ID into another number from 0 to 2^63 - 1, and back, under a key.
 *
 * Hides time, worker, sequence, order and rate from everyone without the key. Equal IDs stay equal. Every number can be
 * revealed as some ID, so a public ID is not a permission. Public IDs do not sort by time; a new key changes all of
 * them. docs/text-forms.md says more. Safe for any number of threads.
 */
public final class PublicId {

  private static final int ID_BITS = 63;

  private final NumberPermutation permutation;

  /**
   * @param key at least 16 bytes; 32 from a random source are best. Keep it for as long as public IDs must be readable
   * @throws IllegalArgumentException if it is shorter
   */
  public PublicId(byte[] key) {
    permutation = new NumberPermutation(key, ID_BITS);
  }

  /**
   * The public ID of an ID.
   *
   * @throws SnowlaneException MALFORMED_ID if it is negative
   */
  public long hide(long id) {
    return permutation.apply(checked(id));
  }

  /**
   * The ID of a public ID; under another key, some other ID.
   *
   * @throws SnowlaneException MALFORMED_ID if it is negative
   */
  public long reveal(long publicId) {
    return permutation.invert(checked(publicId));
  }

  private static long checked(long id) {
    if (id >= 0) return id;
    String text = Long.toUnsignedString(id);
    String message = "The ID " + text + " is not from 0 to 2^63 - 1.";
    throw new SnowlaneException(ErrorReason.MALFORMED_ID, message, Map.of("id", text));
  }
}
