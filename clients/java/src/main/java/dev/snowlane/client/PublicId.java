package dev.snowlane.client;

import java.util.Map;

/**
 * Turns each ID into another number from 0 to 2^63 - 1, and back, under a key.
 *
 * Hides time, worker, sequence, order and distance from whoever lacks the key. Does not hide that two public IDs are
 * equal, and is no permission: whoever holds one can use it. Public IDs do not sort; changing the key changes them all.
 * docs/text-forms.md says more. Safe for any number of threads.
 */
public final class PublicId {

  private static final int ID_BITS = 63;

  private final NumberPermutation permutation;

  /**
   * @param key at least 16 bytes; 32 from a random source are best. Keep it as long as the public IDs are to be read
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
