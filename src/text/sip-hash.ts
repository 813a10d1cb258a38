/** Rounds for each block of a message, and after the last one: what "2-4" stands for. */
const blockRoundCount = 2;
const finalRoundCount = 4;

/**
 * SipHash-2-4 with a 64-bit result, in 32-bit arithmetic: https://www.aumasson.jp/siphash/siphash.pdf, section 2. Each
 * 64-bit word is two 32-bit halves, because a bigint would cost some thirty times as much.
 */
export class SipHash {
  readonly #key: Uint32Array;

  /** Lower half of the last hash; a signed number. */
  low = 0;
  /** Upper half of the last hash; a signed number. */
  high = 0;

  /** @param key - 16 bytes: two 64-bit words, the lowest byte first. */
  constructor(key: Uint8Array) {
    const bytes = new DataView(key.buffer, key.byteOffset, 16);
    this.#key = Uint32Array.from({ length: 4 }, (_, i) => bytes.getUint32(i * 4, true));
  }

  /**
   * Hashes a message into {@link low} and {@link high}.
   *
   * @param words - The message in blocks of 8 bytes, each as its lower and its upper half, the lowest byte first. The
   * last block is filled up with zeros, and its highest byte is the message's length modulo 256.
   */
  hash(words: Uint32Array): void {
    const key = this.#key;
    const k0 = key[0]!;
    const k1 = key[1]!;
    const k2 = key[2]!;
    const k3 = key[3]!;
    let low0 = k0 ^ 0x70736575;
    let high0 = k1 ^ 0x736f6d65;
    let low1 = k2 ^ 0x6e646f6d;
    let high1 = k3 ^ 0x646f7261;
    let low2 = k0 ^ 0x6e657261;
    let high2 = k1 ^ 0x6c796765;
    let low3 = k2 ^ 0x79746573;
    let high3 = k3 ^ 0x74656462;
    for (let at = 0; at <= words.length; at += 2) {
      const isFinal = at === words.length;
      const low = isFinal ? 0 : words[at]!;
      const high = isFinal ? 0 : words[at + 1]!;
      if (isFinal) low2 ^= 0xff;
      low3 ^= low;
      high3 ^= high;
      for (let rounds = isFinal ? finalRoundCount : blockRoundCount; rounds > 0; rounds--) {
        low0 = (low0 + low1) | 0;
        high0 = (high0 + high1 + (low0 >>> 0 < low1 >>> 0 ? 1 : 0)) | 0;
        let rotated = (low1 << 13) | (high1 >>> 19);
        high1 = ((high1 << 13) | (low1 >>> 19)) ^ high0;
        low1 = rotated ^ low0;
        rotated = low0;
        low0 = high0;
        high0 = rotated;
        low2 = (low2 + low3) | 0;
        high2 = (high2 + high3 + (low2 >>> 0 < low3 >>> 0 ? 1 : 0)) | 0;
        rotated = (low3 << 16) | (high3 >>> 16);
        high3 = ((high3 << 16) | (low3 >>> 16)) ^ high2;
        low3 = rotated ^ low2;
        low0 = (low0 + low3) | 0;
        high0 = (high0 + high3 + (low0 >>> 0 < low3 >>> 0 ? 1 : 0)) | 0;
        rotated = (low3 << 21) | (high3 >>> 11);
        high3 = ((high3 << 21) | (low3 >>> 11)) ^ high0;
        low3 = rotated ^ low0;
        low2 = (low2 + low1) | 0;
        high2 = (high2 + high1 + (low2 >>> 0 < low1 >>> 0 ? 1 : 0)) | 0;
        rotated = (low1 << 17) | (high1 >>> 15);
        high1 = ((high1 << 17) | (low1 >>> 15)) ^ high2;
        low1 = rotated ^ low2;
        rotated = low2;
        low2 = high2;
        high2 = rotated;
      }
      low0 ^= low;
      high0 ^= high;
    }
    this.low = low0 ^ low1 ^ low2 ^ low3;
    this.high = high0 ^ high1 ^ high2 ^ high3;
  }
}
