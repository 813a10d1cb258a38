package dev.snowlane.client;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A keyed, reversible permutation of the numbers of some bits: a Feistel network of ten rounds over two equal halves,
 * whose round function is HMAC-SHA-256 of the round's number (one byte) and a half (four bytes, highest first), cut to
 * its last bits. Where the bits are odd the network has one bit too many, and is applied again until the result fits.
 */
final class NumberPermutation {

  /** As NIST SP 800-38G has it for format-preserving Feistel networks. */
  private static final int ROUNDS = 10;

  private static final int KEY_LENGTH_MIN = 16;
  private static final int DIGEST_LENGTH = 32;
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;
  private final int bits;
  private final int halfBits;
  private final long halfMask;

  /**
   * @param bits 2 to 64
   * @throws IllegalArgumentException if the key has fewer than 16 bytes
   */
  NumberPermutation(byte[] key, int bits) {
    if (key.length < KEY_LENGTH_MIN) {
      String found = "The key of public IDs has " + key.length + " bytes";
      throw new IllegalArgumentException(found + "; " + KEY_LENGTH_MIN + " are the fewest.");
    }
    this.key = new SecretKeySpec(key, ALGORITHM);
    this.bits = bits;
    this.halfBits = (bits + 1) / 2;
    this.halfMask = (1L << halfBits) - 1;
  }

  long apply(long number) {
    Mac mac = newMac();
    long result = number;
    do result = encrypted(mac, result);
    while (!fits(result));
    return result;
  }

  long invert(long number) {
    Mac mac = newMac();
    long result = number;
    do result = decrypted(mac, result);
    while (!fits(result));
    return result;
  }

  private boolean fits(long number) {
    return bits == Long.SIZE || number >>> bits == 0;
  }

  private long encrypted(Mac mac, long number) {
    long left = number >>> halfBits;
    long right = number & halfMask;
    for (int round = 0; round < ROUNDS; round++) {
      long next = left ^ roundOf(mac, round, right);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }

  private long decrypted(Mac mac, long number) {
    long left = number >>> halfBits;
    long right = number & halfMask;
    for (int round = ROUNDS - 1; round >= 0; round--) {
      long previous = right ^ roundOf(mac, round, left);
      right = left;
      left = previous;
    }
    return left << halfBits | right;
  }

  private long roundOf(Mac mac, int round, long half) {
    byte[] message = ByteBuffer.allocate(1 + Integer.BYTES).put((byte) round).putInt((int) half).array();
    return ByteBuffer.wrap(mac.doFinal(message)).getInt(DIGEST_LENGTH - Integer.BYTES) & halfMask;
  }

  /** One a call: a Mac is not safe for threads. */
  private Mac newMac() {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac;
    } catch (GeneralSecurityException impossible) {
      // Every Java has it.
      throw new IllegalStateException(impossible);
    }
  }
}
