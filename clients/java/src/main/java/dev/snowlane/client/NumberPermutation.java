package dev.snowlane.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A keyed, reversible permutation of the numbers of some bits: an alternating Feistel network of ten rounds over the
 * higher half of the bits, which is one bit longer where the bits are odd, and the lower half. The even rounds change
 * the higher half, the odd rounds the lower one, by SipHash-2-4 of the other half (four bytes, lowest first) and the
 * round's number (one byte), cut to its last bits. Safe for any number of threads.
 */
final class NumberPermutation {

  /** As NIST SP 800-38G has it for format-preserving Feistel networks. */
  private static final int ROUNDS = 10;

  private static final int KEY_LENGTH_MIN = 16;
  /** Hashed together with the key, so that the same key yields another SipHash key for another purpose. */
  private static final byte[] PURPOSE = "snowlane public id 1\0".getBytes(StandardCharsets.US_ASCII);
  /** Length of a round's message, where SipHash wants it: in the highest byte. */
  private static final long MESSAGE_LENGTH = 5L << 56;

  private final SipHash sipHash;
  private final int lowBits;
  private final long lowMask;
  private final long highMask;

  /**
   * @param bits 2 to 63
   * @throws IllegalArgumentException if the key has fewer than 16 bytes
   */
  NumberPermutation(byte[] key, int bits) {
    if (key.length < KEY_LENGTH_MIN) {
      String found = "The key of public IDs has " + key.length + " bytes";
      throw new IllegalArgumentException(found + "; it needs at least " + KEY_LENGTH_MIN + ".");
    }
    ByteBuffer digest = ByteBuffer.wrap(digestOf(key)).order(ByteOrder.LITTLE_ENDIAN);
    this.sipHash = new SipHash(digest.getLong(), digest.getLong());
    this.lowBits = bits / 2;
    this.lowMask = (1L << lowBits) - 1;
    this.highMask = (1L << (bits - lowBits)) - 1;
  }

  long apply(long number) {
    long high = number >>> lowBits;
    long low = number & lowMask;
    for (int round = 0; round < ROUNDS; round += 2) {
      high ^= roundOf(round, low) & highMask;
      low ^= roundOf(round + 1, high) & lowMask;
    }
    return high << lowBits | low;
  }

  long invert(long number) {
    long high = number >>> lowBits;
    long low = number & lowMask;
    for (int round = ROUNDS - 2; round >= 0; round -= 2) {
      low ^= roundOf(round + 1, high) & lowMask;
      high ^= roundOf(round, low) & highMask;
    }
    return high << lowBits | low;
  }

  private long roundOf(long round, long half) {
    return sipHash.hash(MESSAGE_LENGTH | round << 32 | half);
  }

  private static byte[] digestOf(byte[] key) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(PURPOSE);
      return sha256.digest(key);
    } catch (NoSuchAlgorithmException impossible) {
      // Every Java runtime has it.
      throw new IllegalStateException(impossible);
    }
  }
}
