import { IdError } from "../errors.ts";
import { assert } from "../assert.ts";
import { createHmacSha256 } from "./sha256.ts";
import { checkId } from "./text-form.ts";

/** Shortest key that is let through: 128 bits. */
const keyLengthMin = 16;
/** As NIST SP 800-38G has it for format-preserving Feistel networks. */
const roundCount = 10;
/** Each walk has at least an even chance to be the last; this many in a row are a fault of ours. */
const walkCountMax = 256;

/** A keyed, reversible permutation of the numbers below a power of two. */
export interface NumberPermutation {
  apply(number: bigint): bigint;
  invert(number: bigint): bigint;
}

/**
 * Makes a permutation of the numbers of `bits` bits: a Feistel network of ten rounds over two equal halves, whose round
 * function is HMAC-SHA-256 of the round's number (one byte) and a half (four bytes, highest first), cut to its last
 * bits. Where `bits` is odd the network has one bit too many, and is applied again until the result fits (cycle
 * walking), which keeps it a permutation.
 *
 * @param key - At least 16 bytes; 32 from a random source are best.
 * @param bits - 2 to 64. 63 for IDs; fewer only to look at all of a permutation.
 * @throws IdError INVALID_CONFIG if the key is too short.
 */
export function createNumberPermutation(key: Uint8Array, bits: number): NumberPermutation {
  if (key.length < keyLengthMin) {
    const message = `The key of public IDs has ${key.length} bytes; ${keyLengthMin} are the fewest.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { key_bytes: key.length } });
  }
  const hmac = createHmacSha256(key);
  const halfBits = Math.ceil(bits / 2);
  const halfShift = BigInt(halfBits);
  const halfMask = 2 ** halfBits - 1;
  const end = 1n << BigInt(bits);
  const message = new DataView(new ArrayBuffer(5));

  const roundOf = (round: number, half: number): number => {
    message.setUint8(0, round);
    message.setUint32(1, half);
    const digest = hmac(new Uint8Array(message.buffer));
    return (new DataView(digest.buffer).getUint32(28) & halfMask) >>> 0;
  };
  const halvesOf = (number: bigint): [number, number] => [
    Number(number >> halfShift),
    Number(number & BigInt(halfMask)),
  ];
  const join = (left: number, right: number): bigint => (BigInt(left) << halfShift) | BigInt(right);

  const encryptOnce = (number: bigint): bigint => {
    let [left, right] = halvesOf(number);
    for (let round = 0; round < roundCount; round++) [left, right] = [right, (left ^ roundOf(round, right)) >>> 0];
    return join(left, right);
  };
  const decryptOnce = (number: bigint): bigint => {
    let [left, right] = halvesOf(number);
    for (let round = roundCount - 1; round >= 0; round--) [left, right] = [(right ^ roundOf(round, left)) >>> 0, left];
    return join(left, right);
  };
  const walk = (step: (number: bigint) => bigint, number: bigint): bigint => {
    let result = step(number);
    for (let walks = 1; result >= end; walks++) {
      assert(walks < walkCountMax, "I7: cycle walking does not end");
      result = step(result);
    }
    return result;
  };
  return {
    apply: (number) => walk(encryptOnce, number),
    invert: (number) => walk(decryptOnce, number),
  };
}

/**
 * IDs for people who must not learn when and at what rate IDs are made: each ID becomes another number from 0 to
 * 2^63 - 1, and back, under a key.
 *
 * Hides time, worker, sequence, order and distance from whoever lacks the key. Does not hide that two public IDs are
 * equal, and is no permission: whoever holds one can use it. Public IDs do not sort; changing the key changes them all.
 * They can be written in each form that says nothing of time: decimal, hex, base 32, base 58, base 62.
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
