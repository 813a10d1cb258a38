package dev.snowlane.client;

/** SipHash-2-4 with a 64-bit result: https://www.aumasson.jp/siphash/siphash.pdf, section 2. */
record SipHash(long key0, long key1) {

  private static final int BLOCK_ROUNDS = 2;
  private static final int FINAL_ROUNDS = 4;

  /**
   * Hashes a message.
   *
   * @param blocks 8 bytes each, the lowest byte first; the last is filled up with zeros, and its highest byte is the
   *     message's length modulo 256
   */
  long hash(long... blocks) {
    long v0 = key0 ^ 0x736f6d6570736575L;
    long v1 = key1 ^ 0x646f72616e646f6dL;
    long v2 = key0 ^ 0x6c7967656e657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    for (int at = 0; at <= blocks.length; at++) {
      boolean isFinal = at == blocks.length;
      long block = isFinal ? 0 : blocks[at];
      if (isFinal) v2 ^= 0xff;
      v3 ^= block;
      for (int rounds = isFinal ? FINAL_ROUNDS : BLOCK_ROUNDS; rounds > 0; rounds--) {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
      }
      v0 ^= block;
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }
}
