import { createNumberPermutation, PublicId } from "../../src/text/public-id.ts";

const keys: readonly string[] = [
  "000102030405060708090a0b0c0d0e0f",
  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
  // Longer than a block of SHA-256: HMAC hashes it first.
  "ff".repeat(65),
];
const ids: readonly bigint[] = [0n, 1n, 2n, 2n ** 32n, 2n ** 53n + 1n, 1_900_000_000_000_000_005n, 2n ** 63n - 1n];

/** Public IDs under three keys, and one whole permutation of the numbers below 2^5. */
export function publicIdVectors(): { readonly vectors: readonly object[] } {
  const vectors = keys.flatMap((key) => {
    const publicId = new PublicId(bytesOf(key));
    return ids.map((id) => ({ key, bits: 63, id: String(id), publicId: String(publicId.hide(id)) }));
  });
  const bits = 5;
  const small = createNumberPermutation(bytesOf(keys[0]!), bits);
  const whole = Array.from({ length: 2 ** bits }, (_, i) => ({
    key: keys[0],
    bits,
    id: String(i),
    publicId: String(small.apply(BigInt(i))),
  }));
  return { vectors: [...vectors, ...whole] };
}

function bytesOf(key: string): Uint8Array {
  return Uint8Array.from(key.match(/../g) ?? [], (byte) => Number(`0x${byte}`));
}
