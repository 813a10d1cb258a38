import { createNumberPermutation, PublicId } from "../../src/text/public-id.ts";

const keys: readonly string[] = [
  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
  "00".repeat(16),
  Buffer.from("snowlane test key, not a secret!", "latin1").toString("hex"),
  // With the purpose before it, longer than a block of SHA-256.
  "ff".repeat(65),
];
const ids: readonly bigint[] = [
  0n,
  1n,
  2n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n + 1n,
  1_541_815_603_606_036_480n,
  1_541_815_603_606_036_522n,
  1_900_000_000_000_000_005n,
  2n ** 63n - 1n,
];

/** The key of the reference implementation's test vectors: bytes 0 to 15. */
const referenceKey = "000102030405060708090a0b0c0d0e0f";
/** The SipHash key that the first of the keys above leads to. */
const derivedKey = "9d282da9c500d8fbafe31baa5bd9254a";

/**
 * Written by hand. Those of the reference key are vectors_sip64 of https://github.com/veorq/SipHash, as numbers; the
 * others are rounds of a public ID, computed by another program.
 */
const sipHash: readonly object[] = [
  { key: referenceKey, message: "", hash: "726fdb47dd0e0e31" },
  { key: referenceKey, message: "0001020304", hash: "18765564cd99a68d" },
  { key: referenceKey, message: "000102030405060708090a0b0c0d0e", hash: "a129ca6149be45e5" },
  { key: derivedKey, message: "0000000000", hash: "ca80e8425c148fa0" },
  { key: derivedKey, message: "7856341201", hash: "d96efba31b2a8ab3" },
];

/** SipHash itself, public IDs under four keys, and the whole permutations of the numbers below 2^4 and 2^5. */
export function publicIdVectors(): { readonly sipHash: readonly object[]; readonly vectors: readonly object[] } {
  const vectors = keys.flatMap((key) => {
    const publicId = new PublicId(Buffer.from(key, "hex"));
    return ids.map((id) => ({ key, bits: 63, id: String(id), publicId: String(publicId.hide(id)) }));
  });
  return { sipHash, vectors: [...vectors, ...wholePermutation(4), ...wholePermutation(5)] };
}

function wholePermutation(bits: number): readonly object[] {
  const key = keys[0]!;
  const permutation = createNumberPermutation(Buffer.from(key, "hex"), bits);
  return Array.from({ length: 2 ** bits }, (_, i) => {
    return { key, bits, id: String(i), publicId: String(permutation.apply(BigInt(i))) };
  });
}
