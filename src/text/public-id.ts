import { IdError } from "../errors.ts";
import { IdWords } from "../snowflake/id-words.ts";
import { sha256 } from "./sha256.ts";
import { SipHash } from "./sip-hash.ts";
import { checkId } from "./text-form.ts";

/** The shortest key that is accepted: 128 bits. */
const keyLengthMin = 16;
/** As in NIST SP 800-38G for format-preserving Feistel networks. */
const roundCount = 10;
/** The text that the key is hashed with, so that the same key under another purpose gives another SipHash key. */
const keyPurpose = new TextEncoder().encode("snowlane public id 1\0");
/** Length of a round's message: a half in four bytes, the round in one. SipHash wants it in the highest byte. */
const messageLength = 5 << 24;
const words = new IdWords();

/** A keyed, reversible permutation of the numbers below a power of two. */
export interface NumberPermutation {
  apply(number: bigint): bigint;
  invert(number: bigint): bigint;
}

/**
 * Makes a permutation of the numbers of `bits` bits: an alternating Feistel network of ten rounds over the higher half
 * of the bits, which is one bit longer where `bits` is odd, and the lower half. The even rounds change the higher half,
 * the odd rounds the lower one, by SipHash-2-4 of the other half (four bytes, lowest first) and the round's number (one
 * byte), cut to its last bits. The SipHash key is the beginning of a SHA-256 of the key.
 *
 * @param key - At least 16 bytes; 32 from a random source are best.
 * @param bits - 2 to 63. 63 for IDs; fewer only to examine a whole permutation.
 * @throws IdError INVALID_CONFIG if the key is too short.
 */
export function createNumberPermutation(key: Uint8Array, bits: number): NumberPermutation {
  const sipHash = new SipHash(sipHashKeyOf(key));
  const lowBits = bits >>> 1;
  const lowMask = 2 ** lowBits - 1;
  const highMask = 2 ** (bits - lowBits) - 1;
  const block = new Uint32Array(2);

  /** Does the rounds from one to another, both inclusive, in the order given. */
  const permute = (number: bigint, first: number, last: number): bigint => {
    words.id = number;
    const { high: top, low: bottom } = words;
    let high = (top << (32 - lowBits)) | (bottom >>> lowBits);
    let low = bottom & lowMask;
    const step = first < last ? 1 : -1;
    for (let round = first; round !== last + step; round += step) {
      const isEven = round % 2 === 0;
      block[0] = isEven ? low : high;
      block[1] = messageLength | round;
      sipHash.hash(block);
      if (isEven) high ^= sipHash.low & highMask;
      else low ^= sipHash.low & lowMask;
    }
    words.low = (high << lowBits) | low;
    words.high = high >>> (32 - lowBits);
    return words.id;
  };
  return {
    apply: (number) => permute(number, 0, roundCount - 1),
    invert: (number) => permute(number, roundCount - 1, 0),
  };
}

/**
 * Gives the first 16 bytes of the SHA-256 of the purpose and the key.
 *
 * @throws IdError INVALID_CONFIG if the key is too short.
 */
function sipHashKeyOf(key: Uint8Array): Uint8Array {
  if (key.length < keyLengthMin) {
    const message = `The key of public IDs has ${key.length} bytes; it needs at least ${keyLengthMin}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { key_bytes: key.length } });
  }
  const message = new Uint8Array(keyPurpose.length + key.length);
  message.set(keyPurpose);
  message.set(key, keyPurpose.length);
  return sha256(message).subarray(0, 16);
}

/**
 * IDs that do not show when and at what rate IDs are made: each ID becomes another number from 0 to 2^63 - 1, and back,
 * under a key.
 *
 * Hides time, worker, sequence, order and rate from everybody without the key. Equal IDs stay equal. Any number reveals
 * to some ID, so a public ID is not a permission. Public IDs do not sort by time; a new key changes all of them. They
 * can be written in each form that says nothing of time: decimal, hex, base 32, base 58, base 62.
 */
export class PublicId {
  readonly #permutation: NumberPermutation;

  /**
   * @param key - At least 16 bytes; 32 from a random source are best. Keep it as long as the public IDs are to be read.
   * @throws IdError INVALID_CONFIG if it is shorter.
   */
  constructor(key: Uint8Array) {
    this.#permutation = createNumberPermutation(key, 63);
  }

  /** The public ID of an ID. @throws IdError MALFORMED_ID. */
  hide(id: bigint): bigint {
    checkId(id);
    return this.#permutation.apply(id);
  }

  /** The ID of a public ID. Under another key, some other ID. @throws IdError MALFORMED_ID. */
  reveal(publicId: bigint): bigint {
    checkId(publicId);
    return this.#permutation.invert(publicId);
  }
}
